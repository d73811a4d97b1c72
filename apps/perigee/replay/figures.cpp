#include "apps/perigee/replay/figures.hpp"

#include <algorithm>
#include <cmath>

namespace perigee::app {
namespace {

/// Adds figures of one group.
class group {
public:
  group(figures& to, std::string name) : to_(to), name_(std::move(name)) {}

  void add(const std::string& name, decimal value) {
    to_.push_back({name_ + '.' + name, value});
  }

private:
  figures& to_;
  std::string name_;
};

void add_spread(figures& to, const char* name, const spread& of) {
  group in{to, name};
  in.add("count", whole(of.count));
  in.add("mean", milliseconds_of(of.mean));
  in.add("p50", milliseconds_of(of.p50));
  in.add("p90", milliseconds_of(of.p90));
  in.add("p99", milliseconds_of(of.p99));
  in.add("max", milliseconds_of(of.most));
}

void add_counts(figures& to, const char* name,
                const std::map<std::string, std::uint64_t>& all) {
  group in{to, name};
  for (const auto& [why, count] : all)
    in.add(why, whole(count));
}

void add_requests(figures& to, const summary& of, const yardstick& by) {
  auto add = [&](const char* name, decimal value) { to.push_back({name, value}); };
  add("requests", whole(of.requests));
  add("served", whole(of.served));
  add("refused", whole(of.refused));
  add("failed", whole(of.failed));
  if (of.not_sent > 0) // only a trace with sessions has such
    add("not_sent", whole(of.not_sent));
  add("within", whole(of.within));
  add("within_percent", percent_of(of.within, of.requests));
  add("ttft_within_percent", percent_of(of.ttft_within, of.served));
  add("tbt_within_percent", percent_of(of.tbt_within, of.served));
  add("lasted_s", seconds_of(of.lasted));
  add("served_per_s", per_second(of.served, of.lasted));
  add("within_per_s", per_second(of.within, of.lasted));
  add("output_tokens_per_s", per_second(of.output_tokens, of.lasted));
  if (by.goodput.any()) {
    group in{to, "goodput"};
    in.add("requests", whole(of.good));
    in.add("percent", percent_of(of.good, of.requests));
    in.add("per_s", per_second(of.good, of.lasted));
  }
  add_counts(to, "refused_by", of.refused_by);
  add_counts(to, "failed_by", of.failed_by);
}

/// All of a group, as they were at the end.
void add_last(figures& to, const char* name, const course& of, std::string_view from) {
  group in{to, name};
  for (const auto& column : of.columns)
    if (column.group == from)
      in.add(column.name, whole(of.last(from, column.name)));
}

void add_tokens(figures& to, const summary& sum, const course& of) {
  auto computed = of.last("prompt_tokens", "computed");
  auto all = of.last_sum("prompt_tokens");
  auto wasted = sum.wasted_tokens(computed);
  group tokens{to, "tokens"};
  tokens.add("input", whole(sum.input_tokens));
  tokens.add("cached", whole(sum.cached_tokens));
  tokens.add("output", whole(sum.output_tokens));
  tokens.add("computed", whole(computed));
  tokens.add("wasted", whole(wasted));
  tokens.add("wasted_percent", percent_of(wasted, computed));
  group hits{to, "hit_percent"};
  hits.add("all", percent_of(all - computed, all));
  for (const char* tier : {"vram", "dram", "ssd", "remote"})
    hits.add(tier, percent_of(of.last("prompt_tokens", tier), all));
}

/// How busy each kind of engine was that there is.
void add_busy(figures& to, const course& of) {
  auto at = of.rows.back().at;
  group busy{to, "busy_percent"};
  for (std::string kind : {"prefill", "decode", "coupled"}) {
    auto column = kind + "_busy_ns";
    auto engines = std::count_if(of.columns.begin(), of.columns.end(),
                                 [&](const auto& one) { return one.group == column; });
    if (engines > 0)
      busy.add(kind, percent_of(of.last_sum(column),
                                static_cast<std::uint64_t>(engines * at.count())));
  }
}

decimal mean_of(std::span<const decimal> all) {
  double sum = 0;
  for (const auto& one : all)
    sum += static_cast<double>(one.scaled);
  return {std::llround(sum / static_cast<double>(all.size())), all.front().digits};
}

decimal deviation_of(std::span<const decimal> all) {
  if (all.size() < 2)
    return {0, all.front().digits};
  double mean = 0;
  for (const auto& one : all)
    mean += static_cast<double>(one.scaled) / static_cast<double>(all.size());
  double squares = 0;
  for (const auto& one : all) {
    auto off = static_cast<double>(one.scaled) - mean;
    squares += off * off;
  }
  return {std::llround(std::sqrt(squares / static_cast<double>(all.size() - 1))),
          all.front().digits};
}

std::vector<figure> all_names(std::span<const figures> runs) {
  std::vector<figure> names;
  for (const auto& run : runs)
    for (const auto& one : run)
      if (!find(names, one.name))
        names.push_back({one.name, {0, one.value.digits}});
  return names;
}

} // namespace

figures client_figures(const summary& sum, const spread& gaps, const yardstick& by) {
  figures all;
  add_requests(all, sum, by);
  add_spread(all, "ttft_ms", sum.ttft);
  add_spread(all, "tbt_ms", sum.tbt);
  add_spread(all, "itl_ms", gaps);
  add_spread(all, "tpot_ms", sum.tpot);
  add_spread(all, "e2el_ms", sum.e2el);
  return all;
}

figures figures_of(const replayed& run, const yardstick& by) {
  auto sum = summarize(run.outcomes, by);
  auto all = client_figures(sum, run.gaps, by);
  if (run.loads.has("placed_again")) // only where events make that likely
    all.push_back({"placed_again", whole(run.loads.last_sum("placed_again"))});
  add_last(all, "rejected", run.loads, "rejected");
  add_tokens(all, sum, run.loads);
  add_busy(all, run.loads);
  add_last(all, "bytes_moved", run.loads, "bytes_moved");
  return all;
}

std::optional<decimal> find(const figures& in, std::string_view name) {
  for (const auto& one : in)
    if (one.name == name)
      return one.value;
  return std::nullopt;
}

std::vector<repeated_figure> repeat(std::span<const figures> runs) {
  std::vector<repeated_figure> all;
  for (const auto& [name, zero] : all_names(runs)) {
    std::vector<decimal> values;
    for (const auto& run : runs)
      values.push_back(find(run, name).value_or(zero));
    auto less = [](decimal a, decimal b) { return a.scaled < b.scaled; };
    auto [least, most] = std::minmax_element(values.begin(), values.end(), less);
    all.push_back({name, mean_of(values), deviation_of(values), *least, *most});
  }
  return all;
}

} // namespace perigee::app
