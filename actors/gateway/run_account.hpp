/// \file
/// run_account: what a run of tokens means to the request that it answers.
#pragma once

#include "actors/gateway/open_request.hpp"
#include "actors/gateway/probe.hpp"
#include "actors/gateway/stream_news.hpp"

namespace perigee::gateway {

/// Books `run`, which came `now`, on `one`, counts it, and says what its stream is to
/// hear. Every nanosecond since the submission is in one of the stages told, but for
/// flush and transit.
stream_news account_for(open_request& one, schema::Tokens::Run::Reader run,
                        std::chrono::nanoseconds now, probe& counts);

} // namespace perigee::gateway
