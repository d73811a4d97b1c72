/// \file
/// opaque_words: what only transports understand, and short texts, out of messages and into them.
#pragma once

#include "transport/peer.hpp"

#include <capnp/blob.h>

#include <string_view>

namespace perigee::transfer {

inline capnp::Data::Reader data_of(const transport::opaque& bytes) {
  return {reinterpret_cast<const capnp::byte*>(bytes.data()), bytes.size()};
}

inline transport::opaque bytes_of(capnp::Data::Reader said) {
  const auto* bytes = reinterpret_cast<const std::byte*>(said.begin());
  return {bytes, bytes + said.size()};
}

inline std::string_view text_of(capnp::Text::Reader said) {
  return {said.cStr(), said.size()};
}

} // namespace perigee::transfer
