/// \file
/// Between the Conductor's plain values and their Cap'n Proto form.
#pragma once

#include "actors/conductor/loads.hpp"
#include "actors/conductor/refusal.hpp"
#include "schemas/load.capnp.h"
#include "schemas/request.capnp.h"

namespace perigee::conductor {

/// The loads as of `now`. Of a cluster too large for one message, the first instances
/// and the first requests of each are told, and the counts of all.
void set_book(schema::Book::Builder to, const loads& all, const decode_cost& cost,
              moment now);

/// What a book says that came at `now`. Any words that may be read give some loads.
loads to_loads(schema::Book::Reader from, moment now);

void set_refusal(schema::Refusal::Builder to, const refusal& why);

/// For how long something may go on at most, as said in a message: 0 is nothing.
nanoseconds to_span(std::uint64_t ns);

} // namespace perigee::conductor
