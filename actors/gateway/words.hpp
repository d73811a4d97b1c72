/// \file
/// Between what a gateway says and its Cap'n Proto form.
#pragma once

#include "actors/gateway/api_error.hpp"
#include "actors/gateway/timings.hpp"
#include "engine/sampling/sampling_params.hpp"
#include "engine/sampling/score.hpp"
#include "schemas/request.capnp.h"

#include <vector>

namespace perigee::gateway {

void set_sampling(schema::Sampling::Builder to, const engine::sampling_params& from);

engine::sampled to_sampled(schema::Drawn::Reader from);
std::vector<engine::sampled> to_sampled(capnp::List<schema::Drawn>::Reader from);

timings to_timings(schema::Stages::Reader from);

/// What a client is told of a refusal. `at_handoff`: its prompt had been computed.
api_error to_error(schema::Refusal::Reader from, bool at_handoff);

/// What a client is told of an end that is neither `stop` nor `length`.
api_error to_error(schema::Tokens::Run::Reader from);

/// What a client is told of what the gateway itself finds.
api_error queue_full();
api_error bad_submission();
api_error out_of_time();
api_error actor_lost();
api_error draining(std::int64_t retry_in_s);

} // namespace perigee::gateway
