/// \file
/// utf8_stream: bytes in pieces become text in whole characters.
#pragma once

#include <string>
#include <string_view>

namespace perigee::engine {

/// Holds back at most three bytes: those that may still become a character. What never
/// will comes out as U+FFFD. Push after push, and the flush, make together the same
/// text as with_replacements() of all bytes at once.
class utf8_stream {
public:
  /// The characters that are whole now. May be empty.
  std::string push(std::string_view bytes);

  /// What was held back, as U+FFFD; then the stream is as new.
  std::string flush();

private:
  std::string held_;
};

} // namespace perigee::engine
