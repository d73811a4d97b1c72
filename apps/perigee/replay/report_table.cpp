#include "apps/perigee/replay/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace perigee::app {
namespace {

std::string text_of(const figures& in, std::string_view name, int digits) {
  return to_string(rounded(find(in, name).value_or(decimal{}), digits));
}

bool is_none(const figures& in, std::string_view name) {
  return find(in, name).value_or(decimal{}).scaled == 0;
}

std::string head_of(const told_run& what) {
  return fmt::format("{} on {}\n", what.trace, what.topology);
}

/// A line each.
std::string events_of(const told_run& what) {
  std::string text;
  for (const auto& one : what.events) {
    auto show = [](auto moment) { return to_string(rounded(seconds_of(moment), 1)); };
    text += fmt::format("{:>8} s  {}{}\n", show(one.at), one.what,
                        one.until ? ", until " + show(*one.until) + " s" : "");
  }
  return text;
}

std::string requests_of(const figures& in, const told_run& what) {
  auto n = [&](const char* name) { return text_of(in, name, 0); };
  auto text = fmt::format(
    "requests {}: served {} ({} %), refused {}, failed {}{}; lasted {} s\n",
    n("requests"), n("served"),
    to_string(
      rounded(percent_of(static_cast<std::uint64_t>(find(in, "served")->scaled),
                         static_cast<std::uint64_t>(find(in, "requests")->scaled)),
              1)),
    n("refused"), n("failed"),
    (is_none(in, "not_sent") ? "" : ", not sent " + n("not_sent"))
      + (is_none(in, "placed_again") ? "" : ", placed again " + n("placed_again")),
    text_of(in, "lasted_s", 1));
  text
    += fmt::format("within {} ms to the first token and {} ms between tokens: {} %\n",
                   to_string(rounded(milliseconds_of(what.by.kept.ttft), 0)),
                   to_string(rounded(milliseconds_of(what.by.kept.tbt), 0)),
                   text_of(in, "within_percent", 1));
  if (what.by.goodput.any())
    text += fmt::format("goodput: {} requests/s, {} % of all\n",
                        text_of(in, "goodput.per_s", 3),
                        text_of(in, "goodput.percent", 1));
  return text;
}

std::string spreads_of(const figures& in) {
  auto text = fmt::format("\n{:<22}{:>12}{:>12}{:>12}{:>12}{:>12}\n", "ms", "mean",
                          "P50", "P90", "P99", "max");
  auto add = [&](const char* what, const std::string& group) {
    text += fmt::format("{:<22}", what);
    for (const char* part : {".mean", ".p50", ".p90", ".p99", ".max"})
      text += fmt::format("{:>12}", text_of(in, group + part, 1));
    text += '\n';
  };
  add("TTFT", "ttft_ms");
  add("TBT, longest tenth", "tbt_ms");
  add("between tokens", "itl_ms");
  add("per token", "tpot_ms");
  add("until the end", "e2el_ms");
  return text;
}

/// Rows of those that are not 0; nothing if all are.
std::string counts_of(const figures& in, std::string_view group, const char* title) {
  std::string text;
  for (const auto& one : in)
    if (one.name.starts_with(group) && one.value.scaled != 0)
      text += fmt::format("  {:<28}{:>12}\n", one.name.substr(group.size()),
                          to_string(one.value));
  return text.empty() ? "" : '\n' + std::string{title} + '\n' + text;
}

std::string busy_of(const figures& in) {
  if (find(in, "busy_percent.coupled"))
    return fmt::format("instances busy {} %", text_of(in, "busy_percent.coupled", 1));
  return fmt::format("prefill busy {} %, decode {} %",
                     text_of(in, "busy_percent.prefill", 1),
                     text_of(in, "busy_percent.decode", 1));
}

std::string cluster_of(const figures& in) {
  auto text = fmt::format(
    "\ntokens: {} in, {} cached, {} out ({} /s)\n"
    "prefill: {} tokens computed, {} wasted ({} %); {}\n"
    "KV that was there: {} % of prompt tokens",
    text_of(in, "tokens.input", 0), text_of(in, "tokens.cached", 0),
    text_of(in, "tokens.output", 0), text_of(in, "output_tokens_per_s", 0),
    text_of(in, "tokens.computed", 0), text_of(in, "tokens.wasted", 0),
    text_of(in, "tokens.wasted_percent", 1), busy_of(in),
    text_of(in, "hit_percent.all", 1));
  const char* before = ": ";
  for (const char* tier : {"vram", "dram", "ssd", "remote"}) {
    auto name = std::string{"hit_percent."} + tier;
    if (is_none(in, name))
      continue;
    text += fmt::format("{}{} {} %", before, tier, text_of(in, name, 1));
    before = ", ";
  }
  double bytes = 0;
  for (const auto& one : in)
    if (one.name.starts_with("bytes_moved."))
      bytes += one.value.value();
  return text + fmt::format("\nmoved: {:.1f} GiB\n", bytes / double(1 << 30));
}

} // namespace

std::string to_table(const figures& all, const told_run& what) {
  return head_of(what) + events_of(what) + requests_of(all, what) + spreads_of(all)
         + cluster_of(all)
         + counts_of(all, "refused_by.", "refused, as clients were told")
         + counts_of(all, "rejected.", "refused, by stage and cause")
         + counts_of(all, "failed_by.", "failed");
}

std::string to_client_table(const figures& all, const told_run& what) {
  return head_of(what) + requests_of(all, what) + spreads_of(all)
         + counts_of(all, "tokens.", "tokens") + counts_of(all, "answers.", "answers")
         + counts_of(all, "refused_by.", "refused")
         + counts_of(all, "failed_by.", "failed");
}

std::string to_table(const std::vector<repeated_figure>& all, const told_run& what,
                     std::size_t runs) {
  auto text
    = head_of(what) + events_of(what)
      + fmt::format("{} runs, seeds {} to {}\n\n{:<34}{:>16}{:>14}{:>16}{:>16}\n", runs,
                    what.seed, what.seed + runs - 1, "", "mean", "deviation", "least",
                    "most");
  for (const auto& one : all) {
    if (one.name.starts_with("bytes_moved."))
      continue; // one for each node
    auto digits = std::min(one.mean.digits, 3);
    auto show = [&](decimal value) { return to_string(rounded(value, digits)); };
    text += fmt::format("{:<34}{:>16}{:>14}{:>16}{:>16}\n", one.name, show(one.mean),
                        show(one.deviation), show(one.least), show(one.most));
  }
  return text;
}

} // namespace perigee::app
