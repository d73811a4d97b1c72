/// \file
/// azure_reader: the tables that Azure publishes of its LLM services' traffic.
#pragma once

#include "workload/block_numbers.hpp"
#include "workload/line_reader.hpp"
#include "workload/mooncake_reader.hpp"
#include "workload/request_source.hpp"

#include <cstdint>
#include <istream>
#include <optional>
#include <string>

namespace perigee::workload {

/// CSV as of the Splitwise traces: a head that names `TIMESTAMP` (a date and a time of
/// day, UTC, with a fraction of a second perhaps: `2023-11-16 18:15:46.6805900`),
/// `ContextTokens` and `GeneratedTokens`, in any order, among others perhaps. Time
/// begins with the first row. Lengths are from 1 to 1,048,576. The traces don't say
/// what prompts have in common: every block gets an id of its own.
class azure_reader : public request_source {
public:
  /// `from` belongs to the caller and outlives the reader.
  azure_reader(std::istream& from, std::string file,
               strictness how = strictness::strict);

  next_request next() override;

  const skip_counts& skipped() const {
    return skipped_;
  }

private:
  struct columns {
    std::size_t timestamp, context, generated;
  };

  result<columns, complaint> read_head();
  result<request, complaint> read_row();
  result<std::uint32_t, complaint> length(std::string_view cell,
                                          const char* name) const;
  complaint wrong(cause why, std::string field, std::string_view found,
                  std::string expected) const;

  line_reader lines_;
  std::string file_;
  strictness how_;
  std::optional<columns> columns_;
  std::optional<std::int64_t> begin_ns_;
  std::chrono::nanoseconds latest_{0};
  block_numbers numbers_;
  skip_counts skipped_{};
  bool is_any_ = false;
  bool is_over_ = false;
};

/// Nanoseconds since 1970 of `2023-11-16 18:15:46.6805900`, or nothing. A `T` may stand
/// between date and time, and `Z` or `+00:00` behind.
std::optional<std::int64_t> utc_nanoseconds(std::string_view text);

} // namespace perigee::workload
