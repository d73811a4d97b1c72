#include "actors/rejector/admission_policy.hpp"

#include <algorithm>
#include <array>

namespace perigee::rejector {
namespace {

using conductor::objectives;
using conductor::reason;
using conductor::refusal;
using conductor::share;
using conductor::tbt_check;
using conductor::wish;

/// The queue shortens as time goes by.
std::optional<refusal> judge_prefill(const wish& one, const picture& seen) {
  auto load = share(conductor::shortest_queue(seen.all, seen.now), one.ttft_limit);
  if (load <= seen.load_max)
    return std::nullopt;
  auto excess = (load - seen.load_max) * static_cast<double>(one.ttft_limit.count());
  return refusal{reason::prefill_load, load,
                 nanoseconds{static_cast<std::int64_t>(excess)}};
}

std::optional<refusal> judge_decode(const wish& one, const picture& seen, moment at) {
  if (!one.decodes)
    return std::nullopt;
  auto load = share(conductor::shortest_step(seen.all, seen.cost.decode, seen.now, at),
                    one.tbt_limit);
  if (load <= seen.load_max)
    return std::nullopt;
  auto alone = seen.cost.decode.step_time(1, one.prompt_tokens);
  if (share(alone, one.tbt_limit) > seen.load_max)
    return refusal{reason::decode_load, load, {}};
  auto relief = conductor::decode_relief(seen.all, seen.cost.decode, seen.now,
                                         one.tbt_limit, seen.load_max);
  return refusal{reason::decode_load, load, relief - seen.now};
}

/// When the request would leave prefill if it went where it waits least. What it would
/// reuse is the conductor's to know.
moment end_of_prefill(const wish& one, const picture& seen) {
  return seen.now + conductor::shortest_queue(seen.all, seen.now)
         + seen.cost.prefill.time(one.prompt_tokens, 0);
}

struct none final : admission_policy {
  std::optional<refusal> judge(const wish&, const picture&) const override {
    return std::nullopt;
  }
  objectives wanted(double load_max) const override {
    return {false, tbt_check::none, load_max};
  }
};

struct baseline final : admission_policy {
  std::optional<refusal> judge(const wish& one, const picture& seen) const override {
    return judge_prefill(one, seen);
  }
  objectives wanted(double load_max) const override {
    return {true, tbt_check::none, load_max};
  }
};

struct early_rejection : admission_policy {
  std::optional<refusal> judge(const wish& one, const picture& seen) const override {
    if (auto why = judge_prefill(one, seen))
      return why;
    return judge_decode(one, seen, decodes_at(one, seen));
  }
  objectives wanted(double load_max) const override {
    return {true, tbt_check::at_present, load_max};
  }

private:
  virtual moment decodes_at(const wish&, const picture& seen) const {
    return seen.now;
  }
};

struct early_rejection_predicted final : early_rejection {
  objectives wanted(double load_max) const override {
    return {true, tbt_check::at_arrival, load_max};
  }

private:
  moment decodes_at(const wish& one, const picture& seen) const override {
    return end_of_prefill(one, seen);
  }
};

constexpr std::array<std::string_view, 4> names{"none", "baseline", "early_rejection",
                                                "early_rejection_predicted"};

} // namespace

std::span<const std::string_view> admission_names() {
  return names;
}

std::unique_ptr<admission_policy> make_admission(std::string_view name) {
  if (name == "none")
    return std::make_unique<none>();
  if (name == "baseline")
    return std::make_unique<baseline>();
  if (name == "early_rejection")
    return std::make_unique<early_rejection>();
  if (name == "early_rejection_predicted")
    return std::make_unique<early_rejection_predicted>();
  return nullptr;
}

} // namespace perigee::rejector
