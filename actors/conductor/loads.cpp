#include "actors/conductor/loads.hpp"

#include <algorithm>
#include <limits>

namespace perigee::conductor {
namespace {

constexpr double nobody_there = std::numeric_limits<double>::infinity();

double share(nanoseconds of, nanoseconds limit) {
  return static_cast<double>(of.count()) / static_cast<double>(limit.count());
}

} // namespace

batch batch_at(const decode_line& line, moment now, moment at,
               nanoseconds decode_time) {
  auto present = line.began.size();
  auto staying = present;
  if (at > now)
    staying = static_cast<std::size_t>(
      line.began.end()
      - std::upper_bound(line.began.begin(), line.began.end(), at - decode_time));
  batch then{staying, present == 0 ? 0 : line.kv_tokens * staying / present};
  for (const auto& one : line.coming) {
    if (one.at > at)
      break;
    if (std::max(one.at, now) + decode_time <= at)
      continue; // came and went
    ++then.sequences;
    then.kv_tokens += one.tokens;
  }
  return then;
}

double prefill_load(const loads& all, moment now, nanoseconds ttft_limit) {
  if (all.prefills.empty())
    return nobody_there;
  double sum = 0;
  for (const auto& [who, line] : all.prefills)
    sum += share(line.queued(now), ttft_limit);
  return sum / static_cast<double>(all.prefills.size());
}

double decode_load(const loads& all, const decode_cost& cost, moment now, moment at,
                   nanoseconds tbt_limit) {
  if (all.decodes.empty())
    return nobody_there;
  double sum = 0;
  for (const auto& [who, line] : all.decodes) {
    auto then = batch_at(line, now, at, all.decode_time);
    sum += share(cost.step_time(then.sequences, then.kv_tokens), tbt_limit);
  }
  return sum / static_cast<double>(all.decodes.size());
}

moment decode_relief(const loads& all, const decode_cost& cost, moment now,
                     nanoseconds tbt_limit, double load_max) {
  constexpr int tries = 8;
  for (int i = 1; i < tries; ++i) {
    auto at = now + all.decode_time * i / tries;
    if (decode_load(all, cost, now, at, tbt_limit) <= load_max)
      return at;
  }
  return now + all.decode_time;
}

} // namespace perigee::conductor
