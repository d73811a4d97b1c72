/// \file
/// line_source: what all readers of traces of lines have in common.
#pragma once

#include "workload/line_reader.hpp"
#include "workload/request_source.hpp"

#include <istream>
#include <string>

namespace perigee::workload {

/// What becomes of a line that is no request.
enum class strictness : std::uint8_t {
  strict,  ///< It is complained of, and reading ends.
  lenient, ///< It is counted, and reading goes on.
};

/// A trace with a request a line, perhaps after a head. Blank lines are passed over; a
/// line has at most 1 MiB. A trace without a request is complained of, also by a lenient
/// reader, and so is a head that is wrong.
class line_source : public request_source {
public:
  next_request next() final;

  /// What a lenient reader passed over so far.
  const skip_counts& skipped() const {
    return skipped_;
  }

protected:
  /// `from` belongs to the caller and outlives this; `file` is what complaints call it.
  /// `expected` is what an empty trace should have had.
  line_source(std::istream& from, std::string file, strictness how,
              std::string expected);

  /// Of the line last found.
  place here() const {
    return {file_, lines_.number()};
  }

  const std::string& line() const {
    return lines_.text();
  }

  /// When the request above arrived.
  std::chrono::nanoseconds latest() const {
    return latest_;
  }

private:
  /// What a line says. Nothing if it is the head: then it is the first one.
  virtual next_request read_line() = 0;

  /// Whether a line may be passed over: not as long as the head was not read.
  virtual bool is_past_head() const {
    return true;
  }

  next_request read(line_reader::found state);

  line_reader lines_;
  std::string file_;
  strictness how_;
  std::string expected_;
  skip_counts skipped_{};
  std::chrono::nanoseconds latest_{0};
  bool is_any_ = false;
  bool is_over_ = false;
};

} // namespace perigee::workload
