/// \file
/// What is read of a cluster while it replays: see course.hpp.
#pragma once

#include "apps/perigee/replay/course.hpp"
#include "apps/perigee/replay/key_ranks.hpp"
#include "apps/perigee/replay/virtual_cluster.hpp"

namespace perigee::app {

/// Loads, queues, rejections, tokens, time that engines were busy, bytes. `of` is what
/// `all` describes, and outlives the reading.
std::vector<reading> readings_of(const virtual_cluster& of,
                                 const cluster::topology& all);

/// How many shards hold the blocks on ranks 10, 100, 1,000 and 10,000, as the conductor
/// believes. Both outlive the reading.
std::vector<reading> replicas_of(const virtual_cluster& of, key_ranks& asked_for);

} // namespace perigee::app
