/// \file
/// Where a request is to run: the policies that decide it, each by its name.
#pragma once

#include "actors/conductor/loads.hpp"
#include "actors/conductor/prefix_index.hpp"
#include "actors/conductor/refusal.hpp"
#include "actors/conductor/rifts.hpp"
#include "schemas/result.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace perigee::conductor {

/// What placing a request depends on. How long its answer will be is not known, and how
/// long it may be is no guide: neither is here.
struct wish {
  std::uint32_t prompt_tokens = 1;
  std::uint32_t block_tokens = 16;
  bool decodes = true; ///< False: one token is wanted, which the prefill gives.
  nanoseconds ttft_limit{};
  nanoseconds tbt_limit{};
  bool names_ttft = false; ///< The client named that limit; else it is the cluster's.
  node_index gateway{};    ///< Where its gateway is, which all have to reach.
};

/// What a policy sees of the cluster.
struct scene {
  moment now{};
  const loads& all;
  std::span<const run> runs; ///< Of the wish's chain, ordered by shard.
  const cost_model& cost;
  bool coupled = false; ///< Each group is the instance of the same id, too.

  /// Nodes on two sides of one can't serve together.
  const rifts& apart = no_rifts;
};

/// Where a request is to run, and what is predicted to come of it.
struct plan {
  group_id prefill;
  instance_id decode;
  std::uint32_t reuse_blocks = 0;
  node_index source{}; ///< The shard that holds them; meaningless if there are none.

  nanoseconds fetch{}; ///< Of the reused blocks, from another node or a disk.
  nanoseconds queue{};
  nanoseconds prefill_time{}; ///< The computation alone.
  nanoseconds tbt{};          ///< With this request in the batch, once it is there.

  nanoseconds ttft() const {
    return fetch + queue + prefill_time;
  }

  bool operator==(const plan&) const = default;
};

/// Chooses. One owner; a policy may have a state of its own, such as whose turn it is,
/// but reads no clock and no chance other than its seed's.
class placement_policy {
public:
  virtual ~placement_policy() = default;

  /// A plan, whatever its prospects; nothing if no group and instance are up that reach
  /// each other and the gateway.
  virtual std::optional<plan> choose(const wish& one, const scene& here) = 0;
};

struct placement_options {
  std::uint64_t seed = 0; ///< Of `random`.

  /// A remote prefix is fetched if it is longer than the local one by more than this
  /// factor; else what it has more is computed.
  double kvcache_balancing_threshold = 4;
};

/// Every policy's name, for whoever must offer them.
std::span<const std::string_view> placement_names();

/// | name              | prefill group                       | reuses            |
/// |-------------------|-------------------------------------|-------------------|
/// | `random`          | any                                 | local blocks      |
/// | `round_robin`     | the next in turn                    | local blocks      |
/// | `load_balance`    | where least waits                   | local blocks      |
/// | `cache_aware`     | where TTFT is predicted least       | local blocks      |
/// | `kvcache_centric` | likewise, with what fetching gains: | the best holder's |
/// |                   | Algorithm 1 of the Mooncake paper   |                   |
///
/// Local blocks are those of the shard on the group's own node. All but the first two,
/// which choose both alike, take the decode instance with the least predicted time
/// between tokens, among those that have room if any has.
///
/// Where groups are coupled instances, the instance is the group itself. Of those that
/// are rated alike, the one with the least time between tokens is taken; local blocks
/// are those in its own arena. `kvcache_centric` has nothing to fetch from there.
/// Null if there is no such name.
std::unique_ptr<placement_policy> make_placement(std::string_view name,
                                                 const placement_options& how);

/// By which batch of the instance the time between tokens is judged, the request in it.
enum class tbt_check : std::uint8_t {
  none,
  at_present, ///< Of those that decode now.
  at_arrival, ///< As it is predicted for when the request will be there.
};

/// Which objectives a plan must promise to meet.
struct objectives {
  bool ttft = true;
  tbt_check tbt = tbt_check::at_arrival;
  double load_max = 1; ///< The share of its limit that a prediction may be.
};

/// Why `chosen` is not good enough, or nothing. A prompt that not even an idle group
/// could compute within the cluster's objective is served nevertheless, if it does not
/// wait for longer than that; within an objective that its client named, it is not.
std::optional<refusal> find_shortfall(const plan& chosen, const wish& one,
                                      const scene& here, const objectives& wanted);

} // namespace perigee::conductor
