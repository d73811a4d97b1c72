#include "apps/perigee/replay/json_object.hpp"
#include "apps/perigee/replay/report.hpp"

#include <algorithm>
#include <utility>

namespace perigee::app {
namespace {

using std::chrono::nanoseconds;

void add_limit(json_object& to, const char* name,
               const std::optional<nanoseconds>& limit) {
  if (limit)
    to.add(name, milliseconds_of(*limit));
}

void add_events(std::string& to, const std::vector<told_event>& all) {
  const char* before = "[";
  for (const auto& one : all) {
    to += std::exchange(before, ",");
    json_object event{to};
    event.add("at_s", rounded(seconds_of(one.at), 3));
    if (one.until)
      event.add("until_s", rounded(seconds_of(*one.until), 3));
    event.add("what", one.what);
  }
  to += ']';
}

void add_subject(json_object& to, const told_run& what) {
  to.add("topology", what.topology);
  to.add("trace", what.trace);
  to.add("seed", whole(what.seed));
  {
    json_object kept{to.member("objectives_ms")};
    kept.add("ttft", milliseconds_of(what.by.kept.ttft));
    kept.add("tbt", milliseconds_of(what.by.kept.tbt));
  }
  if (!what.events.empty())
    add_events(to.member("events"), what.events);
  if (!what.by.goodput.any())
    return;
  json_object good{to.member("goodput_ms")};
  add_limit(good, "ttft", what.by.goodput.ttft);
  add_limit(good, "tpot", what.by.goodput.tpot);
  add_limit(good, "e2el", what.by.goodput.e2el);
}

template <class Value>
void add_list(std::string& to, const course& of, Value value_of) {
  to += '[';
  for (std::size_t i = 0; i < of.rows.size(); ++i)
    to += (i == 0 ? "" : ",") + value_of(of.rows[i]);
  to += ']';
}

/// A list for each column, in an object for each group.
void add_course(std::string& to, const course& of) {
  json_object all{to};
  add_list(all.member("at_s"), of,
           [](const auto& row) { return to_string(rounded(seconds_of(row.at), 3)); });
  for (std::size_t i = 0; i < of.columns.size();) {
    const auto& group = of.columns[i].group;
    json_object in{all.member(group)};
    for (; i < of.columns.size() && of.columns[i].group == group; ++i)
      add_list(in.member(of.columns[i].name), of,
               [i](const auto& row) { return std::to_string(row.values[i]); });
  }
}

/// Of those served: what 0, 1, ... 100 % of them do not exceed.
template <class Span>
void add_quantiles(std::string& to, const replayed& run, Span span_of) {
  std::vector<nanoseconds> spans;
  for (const auto& one : run.outcomes)
    if (auto span = span_of(one); one.how == outcome::ending::served && span)
      spans.push_back(*span);
  std::sort(spans.begin(), spans.end());
  to += '[';
  for (std::size_t percent = 0; percent <= 100 && !spans.empty(); ++percent)
    to += (percent == 0 ? "" : ",")
          + to_string(milliseconds_of(spans[(spans.size() - 1) * percent / 100]));
  to += ']';
}

void add_distributions(std::string& to, const replayed& run) {
  json_object all{to};
  add_quantiles(all.member("ttft_ms"), run,
                [](const outcome& one) { return std::optional{one.ttft()}; });
  add_quantiles(all.member("tbt_ms"), run, [](const outcome& one) { return one.tbt; });
}

} // namespace

std::string to_json(const figures& all, const replayed& run, const told_run& what) {
  std::string out;
  {
    json_object report{out};
    add_subject(report, what);
    add_figures(report, all, [](const figure& one) { return one.value; });
    add_distributions(report.member("distributions"), run);
    add_course(report.member("course"), run.loads);
    add_course(report.member("replicas"), run.replicas);
  }
  return out + '\n';
}

std::string to_json(const std::vector<repeated_figure>& all, const told_run& what,
                    std::size_t runs) {
  std::string out;
  {
    json_object report{out};
    add_subject(report, what);
    report.add("runs", whole(runs));
    auto add = [&](const char* name, decimal repeated_figure::*value) {
      json_object in{report.member(name)};
      add_figures(in, all, [value](const repeated_figure& one) { return one.*value; });
    };
    add("mean", &repeated_figure::mean);
    add("deviation", &repeated_figure::deviation);
    add("least", &repeated_figure::least);
    add("most", &repeated_figure::most);
  }
  return out + '\n';
}

} // namespace perigee::app
