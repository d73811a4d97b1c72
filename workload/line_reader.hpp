/// \file
/// line_reader: a stream's lines, of which none can fill the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>

namespace perigee::workload {

inline constexpr std::size_t line_bytes_max = std::size_t{1} << 20;

/// Reads a stream that belongs to the caller.
class line_reader {
public:
  enum class found : std::uint8_t { line, too_long, end, broken };

  explicit line_reader(std::istream& from) : from_{from} {}

  /// The next line that isn't blank. Of one that is too long no more than the limit is
  /// read, until `skip_rest()`; `broken` if the system gave up.
  found next();

  /// Reads on to the end of a line that was too long, and keeps none of it.
  void skip_rest();

  /// Without its end, be it that of Windows or of others.
  const std::string& text() const {
    return text_;
  }

  /// Of the line last found, from 1.
  std::size_t number() const {
    return number_;
  }

private:
  found read();
  found read_bytes();

  std::istream& from_;
  std::string text_;
  std::size_t number_ = 0;
};

} // namespace perigee::workload
