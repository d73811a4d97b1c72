/// \file
/// The rejector: turns away, at the door, what could not be served in time.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/rejector/admission_policy.hpp"
#include "actors/rejector/probe.hpp"
#include "actors/runtime/world.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace perigee::rejector {

struct options {
  std::string admission = "early_rejection_predicted"; ///< One of admission_names().
  double load_max = 1;                                 ///< Turn away above this load.

  /// The cluster's, for requests that name none. Positive.
  nanoseconds ttft_limit = std::chrono::seconds{30};
  nanoseconds tbt_limit = std::chrono::milliseconds{100};

  conductor::cost_model cost; ///< The conductor's own.
};

/// As a journal keeps them: "admission=early_rejection_predicted ...".
std::string to_string(const options& how);

/// Starts a rejector at `where`. One per cluster, beside its conductor, whose load book
/// it has a copy of; until the first copy comes it lets everybody pass. Counts into
/// `counts`.
rejector_actor start(const rt::world& in, rt::place where, options how,
                     std::shared_ptr<probe> counts = std::make_shared<probe>());

} // namespace perigee::rejector
