#include "apps/perigee/compare/comparison.hpp"

#include "apps/perigee/replay/json_object.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace perigee::app {
namespace {

struct shown_figure {
  const char* name;
  int digits;
  const char* short_title = nullptr; ///< Set for those that rows have, too.
};

const std::vector<shown_figure>& shown() {
  static const std::vector<shown_figure> all{
    {"requests", 0},
    {"served", 0, "served"},
    {"refused", 0},
    {"failed", 0},
    {"within_percent", 2, "within %"},
    {"ttft_within_percent", 2},
    {"tbt_within_percent", 2},
    {"goodput.percent", 2, "good %"},
    {"goodput.per_s", 3, "good/s"},
    {"lasted_s", 1},
    {"output_tokens_per_s", 0},
    {"ttft_ms.mean", 1, "TTFT mean"},
    {"ttft_ms.p50", 1},
    {"ttft_ms.p90", 1, "TTFT P90"},
    {"ttft_ms.p99", 1},
    {"tbt_ms.mean", 1, "TBT mean"},
    {"tbt_ms.p50", 1},
    {"tbt_ms.p90", 1, "TBT P90"},
    {"tbt_ms.p99", 1},
    {"itl_ms.p50", 1},
    {"itl_ms.p99", 1},
    {"e2el_ms.mean", 1},
    {"hit_percent.all", 2, "hits %"},
    {"tokens.wasted_percent", 2},
    {"busy_percent.prefill", 1, "P busy %"},
    {"busy_percent.decode", 1, "D busy %"},
    {"busy_percent.coupled", 1, "busy %"},
  };
  return all;
}

/// Those that some run has.
std::vector<shown_figure> present_in(const std::vector<compared_run>& runs) {
  std::vector<shown_figure> some;
  for (const auto& one : shown())
    if (std::any_of(runs.begin(), runs.end(),
                    [&](const auto& run) { return find(run.all, one.name); }))
      some.push_back(one);
  return some;
}

std::string cell(const compared_run& run, const shown_figure& of) {
  auto value = find(run.all, of.name);
  return value ? to_string(rounded(*value, of.digits)) : "-";
}

} // namespace

std::string to_columns(const std::vector<compared_run>& runs) {
  auto text = fmt::format("{:<24}", "");
  auto width = [](const compared_run& run) {
    return std::max<std::size_t>(run.name.size(), 10) + 2;
  };
  for (const auto& run : runs)
    text += fmt::format("{:>{}}", run.name, width(run));
  text += '\n';
  for (const auto& one : present_in(runs)) {
    text += fmt::format("{:<24}", one.name);
    for (const auto& run : runs)
      text += fmt::format("{:>{}}", cell(run, one), width(run));
    text += '\n';
  }
  return text;
}

std::string to_rows(const std::vector<compared_run>& runs, const std::string& title) {
  auto some = present_in(runs);
  std::erase_if(some, [](const auto& one) { return !one.short_title; });
  auto wide = title.size();
  for (const auto& run : runs)
    wide = std::max(wide, run.name.size());
  auto text = fmt::format("{:<{}}", title, wide);
  for (const auto& one : some)
    text += fmt::format("{:>12}", one.short_title);
  text += '\n';
  for (const auto& run : runs) {
    text += fmt::format("{:<{}}", run.name, wide);
    for (const auto& one : some)
      text += fmt::format("{:>12}", cell(run, one));
    text += '\n';
  }
  return text;
}

std::string to_json(const std::vector<compared_run>& runs) {
  std::string out = "[";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    json_object one{out};
    one.add("run", runs[i].name);
    add_figures(one, runs[i].all, [](const figure& of) { return of.value; });
  }
  return out + "]\n";
}

} // namespace perigee::app
