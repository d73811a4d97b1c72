/// \file
/// replay: a trace served by a cluster in virtual time.
#pragma once

#include "actors/cluster/topology.hpp"
#include "actors/runtime/journal.hpp"
#include "apps/perigee/model.hpp"
#include "apps/perigee/replay/outcome.hpp"
#include "workload/request_source.hpp"

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace perigee::app {

struct replayed {
  std::vector<outcome> outcomes;     ///< In the trace's order.
  std::chrono::nanoseconds lasted{}; ///< Of virtual time.
};

/// Why `all` can't be replayed, or nothing: every engine must be modelled, there must be
/// a prefill group and a decode instance, and KV blocks are those of traces.
std::optional<std::string> find_obstacle(const cluster::topology& all);

/// `all` with decode runs as long as they may be: nobody watches tokens come one by one,
/// and what they come to is the same.
cluster::topology with_long_runs(cluster::topology all);

/// Called now and then with how many requests were sent, and the virtual time.
using progress_ear = std::function<void(std::size_t, std::chrono::nanoseconds)>;

/// Sends each request of `trace` when it arrives, and returns when the last of them has
/// ended. The same inputs and seed give the same outcomes, and tell `record` the same. Fails with a sentence if
/// `trace` does. `all` has no obstacle.
result<replayed, std::string> replay(const cluster::topology& all,
                                     const model_outline& of,
                                     workload::request_source& trace,
                                     std::uint64_t seed,
                                     std::shared_ptr<spdlog::logger> log,
                                     const progress_ear& told, rt::journal& record);

} // namespace perigee::app
