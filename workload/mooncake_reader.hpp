/// \file
/// mooncake_reader: traces as Mooncake publishes them.
#pragma once

#include "workload/line_source.hpp"

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <string>

namespace perigee::workload {

/// JSON Lines: an object a line, of which are read
///
/// - `timestamp`: ms since the beginning, which never fall; from 0 to 366 days;
/// - `input_length`, `output_length`: tokens, from 1 to 1,048,576;
/// - `hash_ids`: an id, of 64 bits, for each 512 tokens of input, the last one for what
///   is left;
/// - `session_id`, of 64 bits: whose turn it is; may be left out;
/// - `think_ms`: the turn is sent so long after the session's turn before it was answered,
///   but not before `timestamp`; from 0 to 366 days; left out, it waits for no answer;
///
/// and no other. Blank lines are passed over; a line has at most 1 MiB. A trace without
/// a request is complained of, also by a lenient reader.
class mooncake_reader final : public line_source {
public:
  /// `from` belongs to the caller and outlives the reader; `file` is what complaints
  /// call it.
  mooncake_reader(std::istream& from, std::string file,
                  strictness how = strictness::strict);
  ~mooncake_reader() override;

private:
  struct parser;

  next_request read_line() override;

  std::unique_ptr<parser> parser_;
};

} // namespace perigee::workload
