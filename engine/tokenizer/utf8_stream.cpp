#include "engine/tokenizer/utf8_stream.hpp"

#include "engine/tokenizer/utf8.hpp"

#include <utility>

namespace perigee::engine {

std::string utf8_stream::push(std::string_view bytes) {
  held_ += bytes;
  const std::size_t whole = whole_characters(held_);
  std::string text = with_replacements(std::string_view{held_}.substr(0, whole));
  held_.erase(0, whole);
  return text;
}

std::string utf8_stream::flush() {
  return with_replacements(std::exchange(held_, {}));
}

} // namespace perigee::engine
