#include "apps/perigee/replay/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace perigee::app {
namespace {

using std::chrono::nanoseconds;
using spans = std::vector<nanoseconds>;

nanoseconds sum_of(const spans& all) {
  return std::accumulate(all.begin(), all.end(), nanoseconds{});
}

double ms(nanoseconds span) {
  return static_cast<double>(span.count()) * 1e-6;
}

double share(std::size_t of, std::size_t all) {
  return all == 0 ? 0 : 100. * static_cast<double>(of) / static_cast<double>(all);
}

std::size_t refused_in_all(const summary& of) {
  return std::accumulate(of.refused.begin(), of.refused.end(), std::size_t{0},
                         [](auto sum, const auto& one) { return sum + one.second; });
}

std::string row(const char* what, const spread& of) {
  return fmt::format("{:<22}{:>12.1f}{:>12.1f}{:>12.1f}{:>12.1f}\n", what, ms(of.mean),
                     ms(of.p50), ms(of.p90), ms(of.p99));
}

std::string member(const char* what, const spread& of) {
  return fmt::format(R"("{}_ms":{{"count":{},"mean":{},"p50":{},"p90":{},"p99":{}}})",
                     what, of.count, ms(of.mean), ms(of.p50), ms(of.p90), ms(of.p99));
}

} // namespace

spread spread_of(spans all) {
  if (all.empty())
    return {};
  std::sort(all.begin(), all.end());
  auto at
    = [&](std::size_t percent) { return all[(all.size() * percent + 99) / 100 - 1]; };
  return {all.size(), sum_of(all) / static_cast<std::int64_t>(all.size()), at(50),
          at(90), at(99)};
}

std::optional<nanoseconds> tbt_of(spans gaps) {
  if (gaps.empty())
    return std::nullopt;
  auto tenth = static_cast<std::ptrdiff_t>((gaps.size() + 9) / 10);
  std::nth_element(gaps.begin(), gaps.begin() + tenth - 1, gaps.end(), std::greater{});
  gaps.resize(static_cast<std::size_t>(tenth));
  return sum_of(gaps) / tenth;
}

summary summarize(std::span<const outcome> all, const objectives& kept) {
  summary sum;
  sum.requests = all.size();
  spans ttfts, tbts, gaps;
  for (const auto& one : all) {
    sum.lasted = std::max(sum.lasted, one.ended);
    if (one.how == outcome::ending::refused)
      ++sum.refused[std::string{gateway::info_of(*one.why).text}];
    if (one.how != outcome::ending::served) {
      sum.failed += one.how != outcome::ending::refused;
      continue;
    }
    ++sum.served;
    sum.input_tokens += one.input_tokens;
    sum.cached_tokens += one.cached_tokens;
    sum.output_tokens += one.output_tokens;
    ttfts.push_back(one.ttft());
    auto tbt = tbt_of(one.gaps);
    if (tbt)
      tbts.push_back(*tbt);
    gaps.insert(gaps.end(), one.gaps.begin(), one.gaps.end());
    sum.within += one.ttft() <= kept.ttft && tbt.value_or(nanoseconds{}) <= kept.tbt;
  }
  sum.ttft = spread_of(std::move(ttfts));
  sum.tbt = spread_of(std::move(tbts));
  sum.gap = spread_of(std::move(gaps));
  return sum;
}

std::string to_table(const summary& of, const objectives& kept) {
  std::string out = fmt::format(
    "requests {}: served {} ({:.1f}%), refused {}, failed {}; lasted {:.1f} s\n"
    "within {:.0f} ms to the first token and {:.0f} ms between tokens: {:.1f}%\n"
    "tokens: {} in, of which {:.1f}% cached; {} out\n",
    of.requests, of.served, share(of.served, of.requests), refused_in_all(of),
    of.failed, ms(of.lasted) * 1e-3, ms(kept.ttft), ms(kept.tbt),
    share(of.within, of.requests), of.input_tokens,
    share(of.cached_tokens, of.input_tokens), of.output_tokens);
  for (const auto& [why, count] : of.refused)
    out += fmt::format("refused, {}: {}\n", why, count);
  out += fmt::format("\n{:<22}{:>12}{:>12}{:>12}{:>12}\n", "ms", "mean", "P50", "P90",
                     "P99");
  return out + row("TTFT", of.ttft) + row("TBT, longest tenth", of.tbt)
         + row("between tokens", of.gap);
}

std::string to_json(const summary& of, const objectives& kept) {
  std::string refused;
  for (const auto& [why, count] : of.refused)
    refused += fmt::format(R"({}"{}":{})", refused.empty() ? "" : ",", why, count);
  return fmt::format(
    R"({{"requests":{},"served":{},"failed":{},"refused":{{{}}},"within":{},)"
    R"("objectives_ms":{{"ttft":{},"tbt":{}}},"lasted_s":{},"input_tokens":{},)"
    R"("cached_tokens":{},"output_tokens":{},{},{},{}}})"
    "\n",
    of.requests, of.served, of.failed, refused, of.within, ms(kept.ttft), ms(kept.tbt),
    ms(of.lasted) * 1e-3, of.input_tokens, of.cached_tokens, of.output_tokens,
    member("ttft", of.ttft), member("tbt", of.tbt), member("gap", of.gap));
}

} // namespace perigee::app
