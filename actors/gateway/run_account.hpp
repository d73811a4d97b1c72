/// \file
/// run_account: what a run of tokens means to the request that it answers.
#pragma once

#include "actors/gateway/open_request.hpp"
#include "actors/gateway/probe.hpp"
#include "actors/gateway/stream_news.hpp"

#include <capnp/list.h>

#include <span>

namespace perigee::gateway {

/// For each step of a run, how long ago it ended when the last one did.
std::vector<std::chrono::nanoseconds> ages_of(capnp::List<std::uint64_t>::Reader steps);

/// Books `run`, which came `now`, on `one`, counts it, and says what its stream is to
/// hear. Every nanosecond since the submission is in one of the stages told, but for
/// flush and transit. Its tokens were drawn in steps of such `ages`; none: just now.
stream_news account_for(open_request& one, schema::Tokens::Run::Reader run,
                        std::span<const std::chrono::nanoseconds> ages,
                        std::chrono::nanoseconds now, probe& counts);

} // namespace perigee::gateway
