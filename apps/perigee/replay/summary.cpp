#include "apps/perigee/replay/summary.hpp"

#include <algorithm>

namespace perigee::app {
namespace {

using std::chrono::nanoseconds;

/// Of those that were served.
struct spans {
  std::vector<nanoseconds> ttft, tbt, tpot, e2el;

  void add(const outcome& one) {
    ttft.push_back(one.ttft());
    if (one.tbt)
      tbt.push_back(*one.tbt);
    if (one.output_tokens > 1)
      tpot.push_back(one.tpot());
    e2el.push_back(one.e2el());
  }
};

std::string cause_of(const outcome& one) {
  return std::string{gateway::info_of(*one.why).text};
}

void count(summary& in, const outcome& one) {
  ++in.requests;
  if (one.how == outcome::ending::not_sent) {
    ++in.not_sent;
    return;
  }
  in.lasted = std::max(in.lasted, one.ended);
  switch (one.how) {
    case outcome::ending::not_sent:
    case outcome::ending::served: break;
    case outcome::ending::refused:
      ++in.refused;
      ++in.refused_by[cause_of(one)];
      return;
    case outcome::ending::failed:
      ++in.failed;
      ++in.failed_by[cause_of(one)];
      return;
    case outcome::ending::open:
      ++in.failed;
      ++in.failed_by["never_ended"];
      return;
  }
  ++in.served;
  in.input_tokens += one.input_tokens;
  in.cached_tokens += one.cached_tokens;
  in.output_tokens += one.output_tokens;
}

void judge(summary& in, const outcome& one, const objectives& kept) {
  bool soon = one.ttft() <= kept.ttft;
  bool steady = one.tbt.value_or(nanoseconds{}) <= kept.tbt;
  in.ttft_within += soon;
  in.tbt_within += steady;
  in.within += soon && steady;
}

} // namespace

std::uint64_t summary::wasted_tokens(std::uint64_t computed) const {
  auto used = input_tokens - cached_tokens;
  return computed - std::min(computed, used);
}

summary summarize(std::span<const outcome> all, const yardstick& by) {
  summary sum;
  spans of;
  for (const auto& one : all) {
    count(sum, one);
    if (one.how != outcome::ending::served)
      continue;
    judge(sum, one, by.kept);
    sum.good += is_good(one, by.goodput);
    of.add(one);
  }
  sum.ttft = spread_of(std::move(of.ttft));
  sum.tbt = spread_of(std::move(of.tbt));
  sum.tpot = spread_of(std::move(of.tpot));
  sum.e2el = spread_of(std::move(of.e2el));
  return sum;
}

} // namespace perigee::app
