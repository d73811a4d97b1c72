/// \file
/// replay: a trace served by a cluster in virtual time.
#pragma once

#include "actors/cluster/topology.hpp"
#include "actors/runtime/journal.hpp"
#include "apps/perigee/model.hpp"
#include "apps/perigee/replay/course.hpp"
#include "apps/perigee/replay/outcome.hpp"
#include "apps/perigee/replay/spread.hpp"
#include "workload/request_source.hpp"

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace perigee::app {

struct replayed {
  std::vector<outcome> outcomes;     ///< In the order in which they were sent.
  spread gaps;                       ///< Between any two tokens of a request.
  std::chrono::nanoseconds lasted{}; ///< From the trace's beginning to the last end.
  course loads;                      ///< Of the cluster; see readings_of().
  course replicas;                   ///< Of the hottest blocks; see replicas_of().
};

struct replay_settings {
  std::uint64_t seed = 1; ///< Decides all that is not decided otherwise.

  /// How often the cluster is looked at, to begin with. What becomes of any request
  /// does not depend on it.
  std::chrono::nanoseconds read_every = std::chrono::seconds{1};
};

/// Why `all` can't be replayed, or nothing: every engine must be modelled, there must be
/// a prefill group and a decode instance, and KV blocks are those of a trace, or of one
/// whose lengths are divided.
std::optional<std::string> find_obstacle(const cluster::topology& all,
                                         std::uint32_t lengths_divided_by = 1);

/// `all` with decode runs as long as they may be: nobody watches tokens come one by one,
/// and what they come to is the same. Of coupled instances that is not so, yet: they are
/// left as they are.
cluster::topology with_long_runs(cluster::topology all);

/// Called now and then with how many requests were sent, and the virtual time.
using progress_ear = std::function<void(std::size_t, std::chrono::nanoseconds)>;

/// Sends each request of `trace` when it arrives, but turns that wait for an answer when
/// they are due, and returns when the last of them has ended. The same inputs and settings give the same, and tell `record` the same. Fails
/// with a sentence if `trace` does. `all` has no obstacle.
result<replayed, std::string> replay(const cluster::topology& all,
                                     const model_outline& of,
                                     workload::request_source& trace,
                                     const replay_settings& how,
                                     std::shared_ptr<spdlog::logger> log,
                                     const progress_ear& told, rt::journal& record);

} // namespace perigee::app
