#include "actors/conductor/loads.hpp"

#include <algorithm>
#include <limits>

namespace perigee::conductor {
namespace {

constexpr double nobody_there = std::numeric_limits<double>::infinity();

nanoseconds step_at(const decode_line& line, const decode_cost& cost, moment now,
                    moment at, nanoseconds decode_time) {
  auto then = batch_at(line, now, at, decode_time);
  return cost.step_time(then.sequences, then.kv_tokens);
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
  for (const auto& [who, line] : all.decodes)
    sum += share(step_at(line, cost, now, at, all.decode_time), tbt_limit);
  return sum / static_cast<double>(all.decodes.size());
}

nanoseconds shortest_queue(const loads& all, moment now) {
  auto least = nanoseconds::max();
  for (const auto& [who, line] : all.prefills)
    least = std::min(least, line.queued(now));
  return least;
}

nanoseconds shortest_step(const loads& all, const decode_cost& cost, moment now,
                          moment at) {
  auto least = nanoseconds::max();
  for (const auto& [who, line] : all.decodes)
    least = std::min(least, step_at(line, cost, now, at, all.decode_time));
  return least;
}

moment decode_relief(const loads& all, const decode_cost& cost, moment now,
                     nanoseconds tbt_limit, double load_max) {
  constexpr int tries = 8;
  for (int i = 1; i < tries; ++i) {
    auto at = now + all.decode_time * i / tries;
    if (share(shortest_step(all, cost, now, at), tbt_limit) <= load_max)
      return at;
  }
  return now + all.decode_time;
}

} // namespace perigee::conductor
