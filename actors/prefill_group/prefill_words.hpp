/// \file
/// What a prefill group says of a job, as Cap'n Proto.
#pragma once

#include "actors/prefill_group/job.hpp"

namespace perigee::prefill {

/// Of a sequence that the engine host doesn't know.
void write_begin(schema::Forward::Begin::Builder begin, const job& one);

/// The tokens that are flying; one is drawn if they are the prompt's last.
void write_work(schema::Forward::Work::Builder work, const job& one);

/// All but who says so, and how much time is left.
void write_handoff(schema::Handoff::Builder news, const job& one,
                   schema::Drawn::Reader first, std::uint32_t block_tokens);

} // namespace perigee::prefill
