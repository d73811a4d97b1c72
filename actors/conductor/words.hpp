/// \file
/// Between the Conductor's plain values and their Cap'n Proto form.
#pragma once

#include "actors/conductor/load_book.hpp"
#include "actors/conductor/loads.hpp"
#include "actors/conductor/prefix_index.hpp"
#include "actors/conductor/refusal.hpp"
#include "schemas/cache.capnp.h"
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

std::vector<request_id> to_requests(capnp::List<std::uint64_t>::Reader from);
std::vector<decode_report::end>
to_ends(capnp::List<schema::DecodeLoad::Ended>::Reader from);
block_chain to_keys(capnp::List<schema::BlockKey>::Reader from);
tier to_tier(schema::Tier where);

} // namespace perigee::conductor
