/// \file
/// Cap'n Proto's packing: words with few bytes that are not zero become short.
#pragma once

#include "journal/coding.hpp"
#include "schemas/fault.hpp"

namespace perigee::journal {

/// Appends `words`, packed, to `to`. At most 10 bytes for each word.
void pack(words_view words, bytes& to);

/// Fills `words` with what `packed` holds. False, and what `words` hold is undefined,
/// if that are not exactly as many.
bool unpack(bytes_view packed, std::span<capnp::word> words);

} // namespace perigee::journal
