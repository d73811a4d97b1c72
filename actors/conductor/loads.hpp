/// \file
/// How busy everybody is, and will be: what the conductor places by, and what the
/// rejector has a copy of.
#pragma once

#include "actors/conductor/cost_model.hpp"
#include "actors/conductor/instances.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace perigee::conductor {

/// What waits at a prefill group.
struct prefill_line {
  moment free_at{};          ///< When all that is there is predicted to be done.
  std::uint32_t waiting = 0; ///< Requests that are there.

  /// Predicted work ahead of a request that comes `now`.
  nanoseconds queued(moment now) const {
    return free_at > now ? free_at - now : nanoseconds{};
  }
};

/// A request that is to arrive at a decode instance.
struct arrival {
  moment at{};
  request_id request{};
  std::uint32_t tokens = 0;

  auto operator<=>(const arrival&) const = default;
};

/// What decodes at an instance, and what is on its way there.
struct decode_line {
  std::uint64_t kv_tokens = 0;              ///< Of what decodes.
  std::vector<moment> began;                ///< When each of it did; oldest first.
  std::vector<arrival> coming;              ///< Soonest first.
  std::optional<std::uint32_t> blocks_free; ///< Nothing until it says so.
};

/// A batch, present or predicted.
struct batch {
  std::uint64_t sequences = 0;
  std::uint64_t kv_tokens = 0;

  bool operator==(const batch&) const = default;
};

/// The batch at `at`, which is `now` or later, if every request decodes for as long as
/// `decode_time`: what arrives by then is added, what has decoded that long is not
/// there any more. What decodes now counts now, however long it has.
batch batch_at(const decode_line& line, moment now, moment at, nanoseconds decode_time);

/// Everybody who is there, in order. Those who are not up are left out.
struct loads {
  std::map<group_id, prefill_line> prefills;
  std::map<instance_id, decode_line> decodes;
  nanoseconds decode_time{}; ///< How long a request decodes, on average of late.
};

/// A predicted time as a share of its objective.
inline double share(nanoseconds of, nanoseconds limit) {
  return static_cast<double>(of.count()) / static_cast<double>(limit.count());
}

/// The prefill pool's load: how long a newcomer would wait at a group, as a share of
/// `ttft_limit`, on average over the groups. Infinite if there is none.
double prefill_load(const loads& all, moment now, nanoseconds ttft_limit);

/// The decode pool's load: the predicted time between tokens at `at`, as a share of
/// `tbt_limit`, on average over the instances. Infinite if there is none.
double decode_load(const loads& all, const decode_cost& cost, moment now, moment at,
                   nanoseconds tbt_limit);

/// How long a newcomer would wait at the group where it waits least. As long as can be
/// if there is none.
nanoseconds shortest_queue(const loads& all, moment now);

/// The predicted time between tokens at `at` of the instance where it is shortest. As
/// long as can be if there is none.
nanoseconds shortest_step(const loads& all, const decode_cost& cost, moment now,
                          moment at);

/// When some decode instance's load will have fallen to `load_max`: the first of some
/// moments within the next `decode_time`, after which all that decodes now is predicted
/// to be gone.
moment decode_relief(const loads& all, const decode_cost& cost, moment now,
                     nanoseconds tbt_limit, double load_max);

} // namespace perigee::conductor
