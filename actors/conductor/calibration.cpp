#include "actors/conductor/calibration.hpp"

#include "actors/conductor/least_squares.hpp"

#include <algorithm>
#include <cmath>

namespace perigee::conductor {
namespace {

/// As few as determine three coefficients.
constexpr std::size_t points_min = terms;

std::string describe(const prefill_point& point) {
  auto text = "prefill of " + std::to_string(point.tokens - point.cached);
  return point.cached > 0 ? text + " behind " + std::to_string(point.cached) : text;
}

std::string describe(const decode_point& point) {
  return "decode step of " + std::to_string(point.sequences) + " with "
         + std::to_string(point.kv_tokens) + " of KV";
}

template <class Point>
void add_once(std::vector<Point>& to, const Point& point) {
  if (std::find(to.begin(), to.end(), point) == to.end())
    to.push_back(point);
}

/// `limit`, and less by `step` again and again, `count` in all; shortest first.
std::vector<std::uint32_t> lengths(std::uint32_t limit, std::uint32_t step,
                                   std::size_t count) {
  std::vector<std::uint32_t> all;
  for (; all.size() < count && limit > 0; limit /= step)
    all.push_back(limit);
  std::reverse(all.begin(), all.end());
  return all;
}

/// Whatever has no limit of its own, the arena limits.
void add_step(std::vector<decode_point>& to, const engine_limits& limits,
              std::uint32_t sequences, std::uint64_t kv_of_each) {
  if (sequences > limits.sequences_max)
    return;
  auto kv_tokens = std::min(sequences * kv_of_each, limits.kv_tokens_max);
  if (kv_tokens >= sequences)
    add_once(to, decode_point{sequences, kv_tokens});
}

/// An arena may be too small for what we would like to know: then less, but enough.
void add_small_steps(std::vector<decode_point>& to, const engine_limits& limits) {
  for (auto kv_tokens :
       {limits.kv_tokens_max, limits.kv_tokens_max / 2, limits.kv_tokens_max / 4})
    if (to.size() < points_min)
      add_step(to, limits, 1, kv_tokens);
}

observation to_observation(const measured<prefill_point>& one) {
  auto n = static_cast<double>(one.what.tokens);
  auto p = static_cast<double>(one.what.cached);
  return {{1, n - p, (n - p) * (n + p)}, static_cast<double>(one.took.count())};
}

observation to_observation(const measured<decode_point>& one) {
  return {{1, static_cast<double>(one.what.sequences),
           static_cast<double>(one.what.kv_tokens)},
          static_cast<double>(one.took.count())};
}

template <class Point>
result<coefficients, std::string> fit_points(std::span<const measured<Point>> points,
                                             const char* kind) {
  std::vector<observation> seen;
  for (const auto& one : points) {
    if (one.took <= nanoseconds{})
      return failure(describe(one.what) + " took no time");
    seen.push_back(to_observation(one));
  }
  auto fitted = seen.size() < points_min ? std::nullopt : fit_nonnegative(seen);
  if (!fitted)
    return failure(std::string{"too few measurements of a "} + kind + ": "
                   + std::to_string(points.size()) + ", expected at least "
                   + std::to_string(points_min));
  return *fitted;
}

/// The median of a few runs, for a machine has other things to do.
template <class Point, class Run>
result<nanoseconds, std::string> measure(const Point& point, const Run& run,
                                         unsigned repeats) {
  std::vector<nanoseconds> took;
  for (unsigned i = 0; i < repeats; ++i) {
    result<nanoseconds, std::string> once = run(point);
    if (!once)
      return failure(describe(point) + ": " + once.error());
    took.push_back(*once);
  }
  auto middle = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2);
  std::nth_element(took.begin(), middle, took.end());
  return *middle;
}

template <class Point, class Run, class Tell>
result<std::vector<measured<Point>>, std::string>
measure_all(const std::vector<Point>& points, const Run& run,
            const calibration_plan& plan, const Tell& tell) {
  std::vector<measured<Point>> done;
  nanoseconds spent{};
  for (const auto& point : points) {
    if (done.size() >= points_min && spent > plan.budget / 2) // two kinds share it
      break;
    auto took = measure(point, run, plan.repeats);
    if (!took)
      return failure(took.error());
    done.push_back({point, *took});
    spent += *took * plan.repeats;
    if (tell)
      tell(describe(point), *took);
  }
  return done;
}

} // namespace

calibration_plan quick_calibration(const engine_limits& limits) {
  calibration_plan plan;
  plan.budget = std::chrono::seconds{2};
  auto longest = std::min<std::uint32_t>(limits.prefill_tokens_max, 384);
  for (auto tokens : lengths(longest, 4, 3))
    add_once(plan.prefills, prefill_point{tokens, 0});
  add_once(plan.prefills, prefill_point{longest, longest / 2});
  auto most = std::min<std::uint32_t>(limits.sequences_max, 8);
  add_step(plan.steps, limits, 1, 16);
  add_step(plan.steps, limits, most, 16);
  add_step(plan.steps, limits, 1, 512);
  add_step(plan.steps, limits, 1, 64);
  add_step(plan.steps, limits, most, 128);
  add_small_steps(plan.steps, limits);
  return plan;
}

calibration_plan thorough_calibration(const engine_limits& limits) {
  calibration_plan plan;
  plan.repeats = 3;
  plan.budget = std::chrono::seconds{60};
  constexpr std::uint32_t long_enough = 32'768;
  for (auto tokens : lengths(std::min(limits.prefill_tokens_max, long_enough), 2, 8))
    add_once(plan.prefills, prefill_point{tokens, 0});
  auto whole = plan.prefills;
  for (const auto& one : whole)
    for (auto cached : {one.tokens / 2, one.tokens - one.tokens / 16})
      if (cached > 0 && cached < one.tokens)
        add_once(plan.prefills, prefill_point{one.tokens, cached});
  std::sort(plan.prefills.begin() + points_min, plan.prefills.end(),
            [](const auto& a, const auto& b) {
              return a.tokens - a.cached < b.tokens - b.cached;
            });
  auto batches = lengths(std::min<std::uint32_t>(limits.sequences_max, 256), 2, 7);
  add_step(plan.steps, limits, 1, 16);
  add_step(plan.steps, limits, batches.back(), 16);
  add_step(plan.steps, limits, 1, 2048);
  for (auto kv_of_each : {64u, 512u, 2048u})
    for (auto sequences : batches)
      add_step(plan.steps, limits, sequences, kv_of_each);
  add_small_steps(plan.steps, limits);
  return plan;
}

double calibration::error_max() const {
  double most = 0;
  for (const auto& one : residuals)
    most = std::max(most, std::abs(one.error()));
  return most;
}

result<calibration, std::string> fit(std::span<const measured<prefill_point>> prefills,
                                     std::span<const measured<decode_point>> steps) {
  auto prefill = fit_points(prefills, "prefill");
  if (!prefill)
    return failure(prefill.error());
  auto decode = fit_points(steps, "decode step");
  if (!decode)
    return failure(decode.error());
  calibration done{{(*prefill)[0], (*prefill)[1], (*prefill)[2]},
                   {(*decode)[0], (*decode)[1], (*decode)[2]},
                   {}};
  for (const auto& one : prefills)
    done.residuals.push_back({describe(one.what), one.took,
                              done.prefill.time(one.what.tokens, one.what.cached)});
  for (const auto& one : steps)
    done.residuals.push_back(
      {describe(one.what), one.took,
       done.decode.step_time(one.what.sequences, one.what.kv_tokens)});
  return done;
}

result<calibration, std::string>
calibrate(const measured_engine& engine, const calibration_plan& plan,
          const std::function<void(const std::string& what, nanoseconds took)>& tell) {
  if (!plan.prefills.empty())
    if (auto warm = engine.prefill(plan.prefills.front()); !warm)
      return failure(describe(plan.prefills.front()) + ": " + warm.error());
  auto prefills = measure_all(plan.prefills, engine.prefill, plan, tell);
  if (!prefills)
    return failure(prefills.error());
  auto steps = measure_all(plan.steps, engine.step, plan, tell);
  if (!steps)
    return failure(steps.error());
  return fit(*prefills, *steps);
}

} // namespace perigee::conductor
