#include "tests/apps/modelled_cluster.hpp"
#include "tests/apps/program.hpp"

#include <sys/resource.h>

#include <vector>

// What a user sees of a trace that is wrong, from each command that reads one.

namespace perigee::app {
namespace {

const std::string good = R"({"timestamp": 3000, "input_length": 5, )"
                         R"("output_length": 5, "hash_ids": [1]})"
                         "\n";

/// The name of each command, and its line.
std::vector<std::pair<std::string, std::string>> readers() {
  return {{"workload stats", "workload stats t.jsonl"},
          {"replay", "replay two.toml t.jsonl"}};
}

struct wrong_line {
  std::string text;
  std::string said;
  std::string cause;
};

const std::vector<wrong_line>& wrong_lines() {
  static const std::vector<wrong_line> all{
    {R"({"timestamp": 3000, "output_length": 5, "hash_ids": [1]})",
     "input_length: found nothing; expected a whole number of tokens", "field missing"},
    {R"({"timestamp": -1, "input_length": 5, "output_length": 5, "hash_ids": [1]})",
     "timestamp: found -1; expected milliseconds from 0 to 31622400000",
     "out of range"},
    {R"({"timestamp": 3000, "input_length": 5e9, "output_length": 5, "hash_ids": [1]})",
     "input_length: found 5E9; expected a whole number from 1 to 1048576",
     "out of range"},
    {R"({"timestamp": 3000, "input_length": 5, "output_length": "x", "hash_ids": [1]})",
     "output_length: found \"x\"; expected a whole number", "wrong type"},
    {R"({"timestamp": NaN, "input_length": 5, "output_length": 5, "hash_ids": [1]})",
     "found no JSON", "malformed"},
    {R"({"timestamp": 9, "input_length": 5, "output_length": 5, "hash_ids": [1]})",
     "timestamp: found 9; expected 3000 or more, as in the line above", "out of order"},
    {R"({"timestamp": 3000, "input_length": 5, "output_length": 5, "hash_ids": [1, 2]})",
     "hash_ids: found 2 ids; expected 1 ids, for 5 tokens in blocks of 512",
     "blocks that don't match the length"},
  };
  return all;
}

TEST_CASE("a wrong line is an error with file and line, or a counted skip") {
  scratch here;
  here.write("two.toml", modelled_cluster);
  for (const auto& one : wrong_lines()) {
    here.write("t.jsonl", good + one.text + "\n" + good);
    for (const auto& [command, line] : readers()) {
      INFO(one.text);
      auto strict = run(line, here.path());
      CHECK(strict.code == 1);
      CHECK(holds(strict.said, "perigee " + command + ": t.jsonl:2: " + one.said));
      CHECK_FALSE(holds(strict.said, "requests")); // no figures of half a trace
      auto lenient = run(line + " --lenient", here.path());
      CHECK(lenient.code == 0);
      CHECK(
        holds(lenient.said, "perigee " + command + ": skipped 1: " + one.cause + "\n"));
    }
  }
}

TEST_CASE("a trace without a request says so") {
  scratch here;
  here.write("two.toml", modelled_cluster);
  for (const auto* text : {"", "\n \n", "hello\n"}) {
    here.write("t.jsonl", text);
    for (const auto& [command, line] : readers()) {
      auto got = run(line + " --lenient", here.path());
      CHECK(got.code == 1);
      CHECK(holds(got.said, "perigee " + command
                              + ": t.jsonl: found no request in it; expected one JSON "
                                "object a line"));
    }
  }
  here.write("t.jsonl", good);
  for (const auto& [command, line] : readers()) {
    auto got = run(line + " --from 60", here.path());
    CHECK(got.code == 1);
    CHECK(holds(got.said, "t.jsonl: found no request from second 60"));
    CHECK(run(line + " --first 0", here.path()).code == 2);
  }
}

TEST_CASE("what is no file is said to be none") {
  scratch here;
  here.write("two.toml", modelled_cluster);
  std::filesystem::create_directory(here.path("t.jsonl"));
  for (const auto& [command, line] : readers()) {
    auto got = run(line, here.path());
    CHECK(got.code == 1);
    CHECK(holds(got.said,
                "perigee " + command + ": t.jsonl:1: found a file that can't be read"));
  }
}

TEST_CASE("a line of a gigabyte takes no memory") {
  constexpr std::uintmax_t gigabyte = std::uintmax_t{1} << 30;
  constexpr long kib_max = 768L << 10; // with sanitizers, which keep what was freed
  scratch here;
  here.write("two.toml", modelled_cluster);
  here.write("t.jsonl", good);
  std::filesystem::resize_file(here.path("t.jsonl"), gigabyte); // holes: no disk either
  for (const auto& [command, line] : readers()) {
    auto strict = run(line, here.path());
    CHECK(strict.code == 1);
    CHECK(holds(strict.said, "perigee " + command
                               + ": t.jsonl:2: found a longer line; expected at most "
                                 "1048576 bytes"));
  }
  rusage used{};
  REQUIRE(getrusage(RUSAGE_CHILDREN, &used) == 0);
  CHECK(used.ru_maxrss < kib_max);
}

} // namespace
} // namespace perigee::app
