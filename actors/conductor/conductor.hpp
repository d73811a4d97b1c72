/// \file
/// The conductor: decides where every request runs, by who holds what and who is busy.
#pragma once

#include "actors/conductor/load_book.hpp"
#include "actors/conductor/placement_policy.hpp"
#include "actors/conductor/probe.hpp"
#include "actors/interfaces.hpp"
#include "actors/runtime/world.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace perigee::conductor {

struct options {
  std::string placement = "kvcache_centric"; ///< One of placement_names().
  double kvcache_balancing_threshold = 4;
  objectives wanted;

  /// Every group is a coupled instance, which decodes what it prefills.
  bool coupled = false;

  /// The cluster's, for requests that name none. Positive.
  nanoseconds ttft_limit = std::chrono::seconds{30};
  nanoseconds tbt_limit = std::chrono::milliseconds{100};

  cost_model cost; ///< Without a fault.

  /// Keys of the prefix index, about 56 B each. More are left out.
  std::size_t keys_max = std::size_t{1} << 22;

  load_book::options book;

  /// How long after its client's limit a request is forgotten that nobody reported.
  std::chrono::milliseconds grace{5000};

  /// How often the rejector is told of changes, at most.
  std::chrono::milliseconds publish_every{100};

  /// How long a shard may take to say what it holds before it is asked again.
  std::chrono::milliseconds recount_limit{5000};
};

/// As a journal keeps them: "placement=kvcache_centric ...".
std::string to_string(const options& how);

/// Starts a conductor at `where`. One per cluster, beside its rejector: what it knows
/// is told to it, so it may be restarted at any time. Counts into `counts`.
conductor_actor start(const rt::world& in, rt::place where, options how,
                      std::shared_ptr<probe> counts = std::make_shared<probe>());

} // namespace perigee::conductor
