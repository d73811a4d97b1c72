#include "workload/line_reader.hpp"

#include <limits>

namespace perigee::workload {

line_reader::found line_reader::read() {
  try {
    return read_bytes();
  } catch (const std::ios_base::failure&) { // a folder, or a disk that fails
    return found::broken;
  }
}

line_reader::found line_reader::read_bytes() {
  using traits = std::istream::traits_type;
  text_.clear();
  auto* bytes = from_.rdbuf();
  if (!from_ || bytes == nullptr)
    return from_.bad() || bytes == nullptr ? found::broken : found::end;
  ++number_;
  for (;;) {
    auto next = bytes->sbumpc();
    if (traits::eq_int_type(next, traits::eof())) {
      from_.setstate(std::ios::eofbit | std::ios::failbit);
      return text_.empty() ? found::end : found::line;
    }
    char byte = traits::to_char_type(next);
    if (byte == '\n')
      return found::line;
    if (text_.size() == line_bytes_max)
      return found::too_long;
    text_.push_back(byte);
  }
}

line_reader::found line_reader::next() {
  for (;;) {
    auto got = read();
    if (got != found::line)
      return got;
    if (!text_.empty() && text_.back() == '\r')
      text_.pop_back();
    if (text_.find_first_not_of(" \t") != std::string::npos)
      return got;
  }
}

void line_reader::skip_rest() {
  from_.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
}

} // namespace perigee::workload
