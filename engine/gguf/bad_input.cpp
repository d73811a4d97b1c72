#include "engine/gguf/bad_input.hpp"

namespace perigee::engine::gguf {

std::string bad_input::text() const {
  auto line = where + ": expected " + expected;
  if (!nearest.empty())
    line += "; nearest: " + nearest;
  return line;
}

} // namespace perigee::engine::gguf
