/// \file
/// azure_reader: the tables that Azure publishes of its LLM services' traffic.
#pragma once

#include "workload/block_numbers.hpp"
#include "workload/line_source.hpp"

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
class azure_reader final : public line_source {
public:
  /// `from` belongs to the caller and outlives the reader.
  azure_reader(std::istream& from, std::string file,
               strictness how = strictness::strict);

private:
  struct columns {
    std::size_t timestamp, context, generated;
  };

  next_request read_line() override;
  bool is_past_head() const override {
    return columns_.has_value();
  }

  result<columns, complaint> read_head() const;
  next_request read_row();
  result<std::uint32_t, complaint> length(std::string_view cell,
                                          const char* name) const;

  std::optional<columns> columns_;
  std::optional<std::int64_t> begin_ns_;
  block_numbers numbers_;
};

/// Nanoseconds since 1970 of `2023-11-16 18:15:46.6805900`, or nothing. A `T` may stand
/// between date and time, and `Z` or `+00:00` behind.
std::optional<std::int64_t> utc_nanoseconds(std::string_view text);

} // namespace perigee::workload
