/// \file
/// What was drawn, from one message to another.
#pragma once

#include "schemas/request.capnp.h"

namespace perigee {

/// As `to = from` would be. Written out, as Cap'n Proto's own copy of any struct takes
/// ten times as long, and there is one for every token.
inline void set_drawn(schema::Drawn::Builder to, schema::Drawn::Reader from) {
  to.setToken(from.getToken());
  to.setLogprob(from.getLogprob());
  if (from.hasTop())
    to.setTop(from.getTop());
}

} // namespace perigee
