#include "tests/apps/modelled_cluster.hpp"
#include "tests/apps/program.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <vector>

// What ui.perfetto.dev needs to find: tracks with names, slices that don't overlap on
// one, arrows whose ends lie within slices, requests whose stages are nested in them.

namespace perigee::app {
namespace {

namespace json = boost::json;

using track = std::pair<std::int64_t, std::int64_t>; // pid, tid

/// Times come with three decimals: as nanoseconds they are whole.
std::int64_t ns(const json::value& us) {
  return std::llround(us.to_number<double>() * 1000);
}

struct slice {
  std::int64_t begin, end;
};

struct arrow {
  int begins = 0, ends = 0;
  std::int64_t begin = 0, end = 0;
};

/// A trace, by what is in it.
struct drawn {
  std::set<track> named;
  std::map<track, std::vector<slice>> slices;
  std::map<std::int64_t, arrow> arrows;
  std::vector<std::pair<track, std::int64_t>> arrow_ends;
  std::map<std::int64_t, std::vector<std::pair<std::string, std::int64_t>>> open;
  int requests = 0, runs = 0;

  void take(const json::object& one) {
    track where{one.at("pid").as_int64(), one.at("tid").as_int64()};
    auto kind = one.at("ph").as_string();
    if (kind == "M")
      named.insert(where);
    else if (kind == "X")
      take_slice(where, one);
    else if (kind == "s" || kind == "f")
      take_arrow(where, one, kind == "s");
    else if (kind == "b" || kind == "e")
      take_stage(one, kind == "b");
    else
      FAIL("an event of kind " << kind);
  }

  void take_slice(track where, const json::object& one) {
    auto begin = ns(one.at("ts"));
    slices[where].push_back({begin, begin + ns(one.at("dur"))});
    runs += one.at("cat") == "run";
  }

  void take_arrow(track where, const json::object& one, bool begins) {
    auto& it = arrows[one.at("id").as_int64()];
    ++(begins ? it.begins : it.ends);
    (begins ? it.begin : it.end) = ns(one.at("ts"));
    arrow_ends.emplace_back(where, ns(one.at("ts")));
  }

  void take_stage(const json::object& one, bool begins) {
    auto& stack = open[one.at("id").as_int64()];
    std::string name{one.at("name").as_string()};
    if (begins) {
      requests += stack.empty();
      CHECK((stack.empty() || stack.back().second <= ns(one.at("ts"))));
      stack.emplace_back(name, ns(one.at("ts")));
      return;
    }
    REQUIRE_FALSE(stack.empty());
    CHECK(stack.back().first == name);
    CHECK(stack.back().second <= ns(one.at("ts")));
    stack.pop_back();
  }

  bool is_in_slice(track where, std::int64_t at) const {
    const auto& all = slices.at(where);
    auto after = std::upper_bound(
      all.begin(), all.end(), at,
      [](std::int64_t moment, const slice& one) { return moment < one.begin; });
    return after != all.begin() && std::prev(after)->end > at;
  }
};

drawn draw(const scratch& here, const std::string& options) {
  auto done = run("trace j export --perfetto -o p.json " + options, here.path());
  INFO(done.said);
  REQUIRE(done.code == 0);
  std::ifstream in{here.path("p.json")};
  auto all = json::parse(std::string{std::istreambuf_iterator<char>{in}, {}});
  drawn it;
  for (const auto& one : all.as_object().at("traceEvents").as_array())
    it.take(one.as_object());
  for (auto& [where, slices] : it.slices)
    std::sort(slices.begin(), slices.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return it;
}

void check(const drawn& it) {
  int overlaps = 0, unnamed = 0, loose = 0, half = 0;
  for (const auto& [where, slices] : it.slices) {
    unnamed += !it.named.contains(where);
    for (std::size_t i = 1; i < slices.size(); ++i)
      overlaps += slices[i].begin < slices[i - 1].end;
  }
  for (const auto& [where, at] : it.arrow_ends)
    loose += !it.is_in_slice(where, at);
  for (const auto& [id, one] : it.arrows)
    half += one.begins != 1 || one.ends != 1;
  for (const auto& [id, stack] : it.open)
    CHECK(stack.empty());
  CHECK(overlaps == 0);
  CHECK(unnamed == 0);
  CHECK(loose == 0);
  CHECK(half == 0);
}

void replay_with_journal(const scratch& here, int requests) {
  here.write("two.toml", modelled_cluster);
  auto made = run("workload generate --like conversation --seed 7 --out t.jsonl "
                  "--requests "
                    + std::to_string(requests),
                  here.path());
  REQUIRE(made.code == 0);
  REQUIRE(run("replay two.toml t.jsonl --journal j", here.path()).code == 0);
}

TEST_CASE("an export for Perfetto is what Perfetto can draw") {
  scratch here;
  replay_with_journal(here, 20);
  auto whole = draw(here, "");
  check(whole);
  CHECK(whole.requests == 20);
  CHECK(whole.runs > 100);
  CHECK(whole.arrows.size() > 1000);
  auto one = draw(here, "--request 3");
  check(one);
  CHECK(one.requests == 1);
  CHECK(one.arrows.size() > 20);
  CHECK(one.arrows.size() < whole.arrows.size() / 4);
}

TEST_CASE("a request's sequence diagram has its actors, and a line for each message") {
  scratch here;
  replay_with_journal(here, 5);
  auto drawn = run("trace j export --mermaid 2", here.path());
  CHECK(drawn.code == 0);
  CHECK(drawn.said.starts_with("sequenceDiagram\n  participant a"));
  CHECK(holds(drawn.said, " as p0/gateway.0\n"));
  CHECK(holds(drawn.said, ": Handoff at "));
  CHECK(run("trace j export", here.path()).code == 2);
  CHECK(run("trace j export --mermaid 77", here.path()).code == 1);
  auto unwritable = run("trace j export --mermaid 2 -o no/such/file", here.path());
  CHECK(unwritable.code == 1);
  CHECK(holds(unwritable.said, "no/such/file can't be written"));
}

TEST_CASE("stats tell who said what how often") {
  scratch here;
  replay_with_journal(here, 5);
  auto told = run("trace j stats", here.path());
  CHECK(told.code == 0);
  CHECK(holds(told.said, "1 processes, "));
  CHECK(holds(told.said, "gateway    -> rejector   Arrive                  5 "));
  CHECK(holds(told.said, "prefill    -> decode     Handoff                 5 "));
  CHECK(holds(told.said, "on the way, ms"));
}

} // namespace
} // namespace perigee::app
