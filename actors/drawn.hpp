/// \file
/// What was drawn, from one message to another.
#pragma once

#include "schemas/request.capnp.h"

namespace perigee {

/// As `to = from` would be. Written out, for there is one of every token, and Cap'n
/// Proto's own copy has to do for any struct.
inline void set_drawn(schema::Drawn::Builder to, schema::Drawn::Reader from) {
  to.setToken(from.getToken());
  to.setLogprob(from.getLogprob());
  if (from.hasTop())
    to.setTop(from.getTop());
}

} // namespace perigee
