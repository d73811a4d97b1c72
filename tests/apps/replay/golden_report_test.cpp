#include "tests/apps/program.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

// One run, to the last digit, in every build. What it comes to changes whenever a policy
// does: tests/README.md says how to renew it.

namespace perigee::app {
namespace {

const std::string golden = PERIGEE_SOURCE_DIR "/tests/apps/replay/golden/";

std::string read(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The first line that differs, of both.
std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream left{a}, right{b};
  std::string one, other;
  for (int line = 1;; ++line) {
    bool more = bool(std::getline(left, one));
    bool more_there = bool(std::getline(right, other));
    if (!more && !more_there)
      return "none";
    if (!more || !more_there || one != other)
      return "line " + std::to_string(line) + "\n  " + (more ? one : "(none)") + "\n  "
             + (more_there ? other : "(none)");
  }
}

/// Writes both reports of the run into `here`.
void replay(const scratch& here, const std::string& name) {
  auto done = run("replay cluster.toml trace.jsonl --set model.path=" PERIGEE_SOURCE_DIR
                  "/tests/engine/golden/tiny/q4_0.gguf --read-every 10 "
                  "--goodput ttft:2000,tpot:40 --json "
                    + name + ".json --csv " + name + ".csv",
                  here.path());
  INFO(done.said);
  REQUIRE(done.code == 0);
}

void compare_or_renew(const std::string& name, const std::string& text) {
  if (std::getenv("PERIGEE_TEST_RENEW")) {
    std::ofstream{golden + name, std::ios::binary} << text;
    WARN(name << " is renewed");
    return;
  }
  auto expected = read(golden + name);
  INFO("if it should be another: see \"Golden report\" in tests/README.md; "
       << name << ", committed and now, differ first in "
       << first_difference(expected, text));
  CHECK((expected == text)); // in brackets: Catch would print all of it
}

TEST_CASE(
  "the same trace and seed give the same reports, which are the committed ones") {
  scratch here;
  std::filesystem::copy(golden + "cluster.toml", here.path());
  REQUIRE(run("workload generate --like conversation --requests 500 --seed 7 "
              "--out trace.jsonl",
              here.path())
            .code
          == 0);
  replay(here, "first");
  replay(here, "second");
  auto json = read(here.path("first.json"));
  auto csv = read(here.path("first.csv"));
  CHECK((json == read(here.path("second.json"))));
  CHECK((csv == read(here.path("second.csv"))));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 501);
  compare_or_renew("report.json", json);
  compare_or_renew("requests.csv", csv);
}

} // namespace
} // namespace perigee::app
