/// \file
/// Whom to turn away when load is high: the policies that decide it, each by its name.
#pragma once

#include "actors/conductor/loads.hpp"
#include "actors/conductor/placement_policy.hpp"
#include "actors/conductor/refusal.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace perigee::rejector {

using conductor::moment;
using conductor::nanoseconds;

/// What a policy sees of the cluster: the rejector's copy of the load book.
struct picture {
  moment now{};
  const conductor::loads& all;
  const conductor::cost_model& cost;
  double load_max = 1; ///< Turn away above this.
};

/// Judges by loads alone: what a request would reuse, and how long its answer will be,
/// it doesn't know. Stateless.
class admission_policy {
public:
  virtual ~admission_policy() = default;

  /// Why `one` is turned away, or nothing. Somebody is there in what is seen: who must
  /// do without is for the conductor to say.
  virtual std::optional<conductor::refusal> judge(const conductor::wish& one,
                                                  const picture& seen) const = 0;

  /// What the conductor, who is final, shall hold a plan to, for the policy to be what
  /// it is.
  virtual conductor::objectives wanted(double load_max) const = 0;
};

/// Every policy's name, for whoever must offer them.
std::span<const std::string_view> admission_names();

/// A load is a predicted time as a share of its objective, at the instance where that is
/// least: what the request could get; see loads.hpp. Each turns a request away if:
///
/// - `none`: never.
/// - `baseline`: the prefill load is high; decode instances judge for themselves at
///   hand-off, when the prefill is done.
/// - `early_rejection`: the prefill or the decode load is high now.
/// - `early_rejection_predicted`: the prefill load is high now, or the decode load will
///   be when the request leaves prefill.
///
/// They are those of the Mooncake technical report, section 7.
/// Null if there is no such name.
std::unique_ptr<admission_policy> make_admission(std::string_view name);

} // namespace perigee::rejector
