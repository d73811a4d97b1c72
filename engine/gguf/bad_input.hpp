/// \file
/// bad_input: why a file is refused.
#pragma once

#include <cstdint>
#include <string>

namespace perigee::engine::gguf {

enum class file_fault : std::uint8_t {
  unreadable = 1, ///< The file can't be opened or mapped.
  malformed,      ///< Not a GGUF file, or a damaged one.
  unsupported,    ///< A version or a tensor type that we don't read.
  missing,        ///< A key or tensor that was asked for isn't there.
  wrong_type,     ///< It is there, and is something else.
};

struct bad_input {
  file_fault code = file_fault::malformed;
  std::string where;    ///< File, key or tensor, and byte offset if there is one.
  std::string expected; ///< And what was found instead.
  std::string nearest;  ///< The nearest name there is; empty if none is near.

  /// In one line, for a person.
  std::string text() const;
};

} // namespace perigee::engine::gguf
