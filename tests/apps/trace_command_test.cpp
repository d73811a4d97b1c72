#include "tests/apps/modelled_cluster.hpp"
#include "tests/apps/program.hpp"

#include <iterator>
#include <map>
#include <sstream>
#include <vector>

namespace perigee::app {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator{folder})
    if (entry.is_regular_file())
      all.emplace(fs::relative(entry.path(), folder).string(), read_file(entry.path()));
  return all;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);)
    all.push_back(line);
  return all;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in{line};
  return {std::istream_iterator<std::string>{in}, {}};
}

/// So many requests, replayed with a journal in j.
std::string replayed(const scratch& here, int requests = 60) {
  here.write("two.toml", modelled_cluster);
  auto made = run("workload generate --like conversation --seed 7 --out t.jsonl "
                  "--requests "
                    + std::to_string(requests),
                  here.path());
  REQUIRE(made.code == 0);
  auto done = run("replay two.toml t.jsonl --json - --journal j", here.path());
  INFO(done.said);
  REQUIRE(done.code == 0);
  return done.said;
}

TEST_CASE("equal replays keep equal journals, and are what they are without one") {
  scratch here;
  auto said = replayed(here);
  CHECK(run("replay two.toml t.jsonl --json - --journal k", here.path()).said == said);
  CHECK(run("replay two.toml t.jsonl --json -", here.path()).said == said);
  auto first = files_in(here.path("j"));
  CHECK(first.size() == 1);
  CHECK(first == files_in(here.path("k")));
  CHECK(run("replay two.toml t.jsonl --journal m --seed 2", here.path()).code == 0);
  CHECK(first != files_in(here.path("m")));
  auto again = run("replay two.toml t.jsonl --journal j", here.path());
  CHECK(again.code == 1);
  CHECK(holds(again.said, "j/p0@1 is there already"));
}

double number_after(const std::string& text, const std::string& what) {
  auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + what.size()));
}

TEST_CASE("the list tells of each request what the replay's own report adds up") {
  scratch here;
  auto report = replayed(here);
  auto list = lines_of(run("trace j list", here.path()).said);
  REQUIRE(list.size() == 61);
  double ttft = 0, output = 0, input = 0;
  for (std::size_t i = 1; i < list.size(); ++i) {
    auto cells = words_of(list[i]);
    INFO(list[i]);
    REQUIRE(cells.size() > 8);
    CHECK(cells[0] == std::to_string(i - 1));
    CHECK(cells[2] == "length");
    input += std::stod(cells[3]);
    output += std::stod(cells[5]);
    ttft += std::stod(cells[6]);
    double stages = 0;
    for (std::size_t k = 8; k < cells.size(); ++k)
      stages += std::stod(cells[k]);
    CHECK(stages == Approx(std::stod(cells[7])).margin(0.05 * 10)); // each is rounded
  }
  CHECK(input == number_after(report, "\"input\":"));
  CHECK(output == number_after(report, "\"output\":"));
  auto mean = number_after(report, "\"ttft_ms\":{\n\"count\":60,\n\"mean\":");
  CHECK(ttft / 60 == Approx(mean).margin(0.05));
  auto slow = lines_of(run("trace j list --sort ttft --first 2", here.path()).said);
  REQUIRE(slow.size() == 3);
  CHECK(std::stod(words_of(slow[1])[6]) >= std::stod(words_of(slow[2])[6]));
}

/// "1396.199677" as nanoseconds.
long long to_ns(const std::string& ms) {
  auto dot = ms.find('.');
  REQUIRE(dot != std::string::npos);
  return std::stoll(ms.substr(0, dot) + ms.substr(dot + 1));
}

TEST_CASE("a request's course has every message, and its stages sum up to the tick") {
  scratch here;
  replayed(here);
  auto shown = run("trace j show 3", here.path());
  REQUIRE(shown.code == 0);
  for (auto what : {"Submit", "Arrive", "Place", "Prefill", "Expect", "Placed",
                    "Prompt", "Room", "Roomed", "Forward", "Forwarded", "Handoff",
                    "HandedOff", "Landed", "Tokens", "Push", "Moved"}) {
    INFO(what);
    CHECK(holds(shown.said, what));
  }
  auto lines = lines_of(shown.said);
  long long first = 0, last = 0, to_first = 0, to_last = 0;
  double last_tokens_ms = 0;
  bool in_stages = false;
  for (const auto& line : lines) {
    auto cells = words_of(line);
    if (in_stages && cells.size() == 3 && cells[0] != "sum") {
      first += to_ns(cells[1]);
      last += to_ns(cells[2]);
    } else if (cells.size() == 3 && cells[0] == "sum") {
      to_first = to_ns(cells[1]);
      to_last = to_ns(cells[2]);
    } else if (holds(line, "Tokens ")) {
      last_tokens_ms = std::stod(cells[0]) + std::stod(cells[1]);
    }
    in_stages = in_stages || line.starts_with("stage, ms");
  }
  CHECK(to_first > 0);
  CHECK(to_last > to_first);
  CHECK(first == to_first);
  CHECK(last == to_last);
  CHECK(static_cast<double>(to_last) * 1e-6 == Approx(last_tokens_ms).margin(0.002));
}

TEST_CASE(
  "a replay's batches, from its journal, tell the costs that it was made with") {
  scratch here;
  replayed(here);
  REQUIRE(run("trace j export --batches -o b.csv", here.path()).code == 0);
  auto fitted = run("calibrate --from b.csv", here.path());
  INFO(fitted.said);
  REQUIRE(fitted.code == 0);
  std::map<std::string, double> costs;
  for (const auto& line : lines_of(fitted.said))
    if (auto words = words_of(line); words.size() == 3 && words[1] == "=")
      costs[words[0]] = std::stod(words[2]);
  CHECK(costs["prefill_fixed_ms"] == Approx(20).epsilon(0.01));
  CHECK(costs["prefill_token_us"] == Approx(50).epsilon(0.01));
  CHECK(costs["prefill_pair_ns"] == Approx(5).epsilon(0.01));
  CHECK(costs["decode_fixed_ms"] == Approx(10).epsilon(0.02));
  CHECK(costs["decode_sequence_us"] == Approx(100).epsilon(0.05));
  CHECK(costs["decode_kv_token_ns"] == Approx(50).epsilon(0.02));
}

TEST_CASE("what can't be traced is told in a sentence") {
  scratch here;
  replayed(here);
  auto unknown = run("trace j show 61", here.path());
  CHECK(unknown.code == 1);
  CHECK(holds(unknown.said, "there is no request '61' among the 60 here"));
  CHECK(holds(unknown.said, "`list` names them"));
  auto missing = run("trace nowhere list", here.path());
  CHECK(missing.code == 1);
  CHECK(holds(missing.said, "nowhere is not there"));
  auto file = run("trace t.jsonl list", here.path());
  CHECK(holds(file.said, "t.jsonl is no folder"));
  fs::create_directory(here.path("empty"));
  CHECK(holds(run("trace empty list", here.path()).said, "empty holds no journal"));
  CHECK(run("trace j", here.path()).code == 2);
}

TEST_CASE("a torn journal is traced as far as it goes, one of another kind is not") {
  scratch here;
  replayed(here);
  fs::path segment = here.path("j/p0@1/00000001.journal");
  fs::resize_file(segment, fs::file_size(segment) / 2);
  auto torn = run("trace j list", here.path());
  CHECK(torn.code == 0);
  CHECK(holds(torn.said, "its end is torn, and skipped"));
  CHECK(lines_of(torn.said).size() > 10);
  auto bytes = read_file(segment);
  bytes[8] = 9;
  std::ofstream{segment, std::ios::binary} << bytes;
  auto other = run("trace j list", here.path());
  CHECK(other.code == 1);
  CHECK(holds(other.said, "a journal of version 9: expected 1"));
  CHECK(holds(other.said, "nothing in it could be read"));
  std::ofstream{segment, std::ios::binary} << "something else entirely";
  CHECK(holds(run("trace j list", here.path()).said,
              "00000001.journal: at byte 0: this is no journal"));
}

TEST_CASE("a journal that rotates keeps the latest requests whole") {
  scratch here;
  replayed(here, 200);
  auto small = run("replay two.toml t.jsonl --journal s --journal-size 4MiB "
                   "--journal-segment 256KiB",
                   here.path());
  REQUIRE(small.code == 0);
  std::uintmax_t bytes = 0;
  for (const auto& [name, content] : files_in(here.path("s")))
    bytes += content.size();
  CHECK(bytes < 4'500'000);
  CHECK(bytes > 3'500'000);
  auto list = run("trace s list", here.path());
  CHECK(list.code == 0);
  CHECK(holds(list.said, "began before what is left of the journals"));
  std::map<std::string, std::string> whole; // from the number to all after arrival
  for (const auto& line : lines_of(run("trace j list", here.path()).said))
    if (auto cells = words_of(line); cells.size() > 7)
      whole[cells[0]] = cells[2] + ' ' + cells[3] + ' ' + cells[6] + ' ' + cells[7];
  int known = 0;
  for (const auto& line : lines_of(list.said))
    if (auto cells = words_of(line);
        cells.size() > 7 && cells[2] == "length" && whole.contains(cells[0])) {
      ++known;
      CHECK(whole[cells[0]]
            == cells[2] + ' ' + cells[3] + ' ' + cells[6] + ' ' + cells[7]);
    }
  CHECK(known > 5);
  CHECK(known < 200);
}

} // namespace
} // namespace perigee::app
