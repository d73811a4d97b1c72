/// \file
/// Between a wish, the plan that is made for it, and what those who serve it are told.
#pragma once

#include "actors/conductor/load_book.hpp"
#include "actors/conductor/placement_policy.hpp"
#include "schemas/request.capnp.h"

namespace perigee::conductor {

/// False for a wish that contradicts itself, which is a sender's mistake.
bool is_sound(schema::Wish::Reader from);

/// What the policy sees of it. The limits are for who names none.
wish to_wish(schema::Wish::Reader from, nanoseconds ttft_limit, nanoseconds tbt_limit);

/// What the book keeps of it, placed `now`; `grace` longer than its client waits. Of a
/// sound wish, with a plan that reuses no more than its chain.
placement to_placement(const plan& chosen, schema::Wish::Reader from, moment now,
                       nanoseconds grace);

/// For the group that is to prefill it.
void set_prefill(schema::Prefill::Builder to, const plan& chosen,
                 schema::Place::Reader asked);

/// For the instance that is to decode it.
void set_expect(schema::Expect::Builder to, const plan& chosen,
                schema::Wish::Reader from);

/// For the gateway that asked.
void set_plan(schema::Placed::Plan::Builder to, const plan& chosen, bool coupled);

} // namespace perigee::conductor
