#include "tests/apps/program.hpp"

namespace perigee::app {
namespace {

TEST_CASE("workload says what it can do, and each part how it is used") {
  auto help = run("workload --help");
  CHECK(help.code == 0);
  for (const auto* word : {"generate", "stats", "convert", "Examples", "Mooncake"})
    CHECK(holds(help.said, word));
  auto generate = run("workload generate --help");
  CHECK(generate.code == 0);
  for (const auto* word : {"--like", "conversation", "toolagent", "synthetic",
                           "--burstiness", "--tree", "--seed"})
    CHECK(holds(generate.said, word));
}

TEST_CASE("what generate writes, stats reads, and a seed makes it again") {
  scratch here;
  const std::string make = "workload generate --like conversation --requests 300";
  CHECK(run(make + " --seed 7 --out a.jsonl", here.path()).code == 0);
  CHECK(run(make + " --seed 7 > b.jsonl", here.path()).code == 0);
  CHECK(run(make + " --seed 8 > c.jsonl", here.path()).code == 0);
  CHECK(
    std::system(("cmp -s " + here.path("a.jsonl") + " " + here.path("b.jsonl")).c_str())
    == 0);
  CHECK(
    std::system(("cmp -s " + here.path("a.jsonl") + " " + here.path("c.jsonl")).c_str())
    != 0);
  auto stats = run("workload stats a.jsonl", here.path());
  CHECK(stats.code == 0);
  CHECK(holds(stats.said, "requests         300\n"));
  CHECK(holds(stats.said, "in so many requests: 300 "));
  CHECK(holds(run("workload stats a.jsonl --first 5", here.path()).said,
              "requests         5\n"));
}

TEST_CASE("cache says what pools of several sizes and policies would have spared") {
  scratch here;
  const std::string line
    = R"(, "input_length": 1024, "output_length": 5, "hash_ids": )";
  here.write("t.jsonl", R"({"timestamp": 0)" + line + "[1, 2]}\n" + R"({"timestamp": 1)"
                          + line + "[3, 4]}\n" + R"({"timestamp": 2)" + line
                          + "[1, 2]}\n");
  auto table = run("workload cache t.jsonl --policy lru,lfu --blocks 2,4", here.path());
  CHECK(table.code == 0);
  CHECK(holds(table.said, "of 6 blocks in 3 requests"));
  CHECK(holds(table.said, "blocks                 2         4   endless\n"
                          "lru               0.0000    0.3333    0.3333\n"
                          "lfu               0.0000    0.3333    0.3333\n"));
  auto json = run("workload cache t.jsonl --policy length_aware --blocks 4 --json",
                  here.path());
  CHECK(
    holds(json.said, R"({"policy":"length_aware","blocks":4,"hit_rate":0.333333})"));
  auto wrong = run("workload cache t.jsonl --policy fifo", here.path());
  CHECK(wrong.code == 2);
  CHECK(holds(wrong.said, "fifo"));
  CHECK(holds(wrong.said, "length_aware"));
  CHECK(run("workload cache t.jsonl --blocks 0", here.path()).code == 2);
}

TEST_CASE("a trace to one's own measure has the prompts of its tree") {
  scratch here;
  CHECK(run("workload generate --requests 200 --tree 2048x1,1024x2 --turns 2 > t.jsonl",
            here.path())
          .code
        == 0);
  auto stats = run("workload stats t.jsonl", here.path());
  CHECK(holds(stats.said, "in so many requests: 200 200 200 200 "));
}

TEST_CASE("a wrong trace ends stats with file and line, or is counted") {
  scratch here;
  const std::string good = R"({"timestamp": 0, "input_length": 5, )"
                           R"("output_length": 5, "hash_ids": [1]})"
                           "\n";
  here.write("t.jsonl", good + "hello\n" + good);
  auto strict = run("workload stats t.jsonl", here.path());
  CHECK(strict.code == 1);
  CHECK(holds(strict.said, "perigee workload stats: t.jsonl:2: found no JSON"));
  auto lenient = run("workload stats t.jsonl --lenient", here.path());
  CHECK(lenient.code == 0);
  CHECK(holds(lenient.said, "skipped 1: malformed\n"));
  CHECK(holds(lenient.said, "requests         2\n"));
  CHECK(run("workload stats no.jsonl", here.path()).code == 1);
}

TEST_CASE("Azure's table becomes a trace") {
  scratch here;
  here.write("a.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n"
                      "2023-11-16 18:15:46.6805900,374,44\n"
                      "2023-11-16 18:15:50.6805900,600,2\n");
  CHECK(run("workload convert a.csv", here.path()).said
        == R"({"timestamp": 0, "input_length": 374, "output_length": 44, )"
           R"("hash_ids": [0]})"
           "\n"
           R"({"timestamp": 4000, "input_length": 600, "output_length": 2, )"
           R"("hash_ids": [1, 2]})"
           "\n");
}

TEST_CASE("what can't be made is refused, and nothing is written") {
  for (const auto* line :
       {"generate --like nothing", "generate --requests 0", "generate --tree 5",
        "generate --tree 5x", "generate --tree 5x2,", "generate --tree x",
        "generate --like synthetic --turns 3", "generate --burstiness 0",
        "generate --input-mean 1 --input-median 2", "stats", "stats x --speed 0",
        "stats x --from -1", "convert", ""}) {
    INFO(line);
    auto got = run(std::string{"workload "} + line);
    CHECK(got.code == 2);
    CHECK(holds(got.said, "--help"));
  }
}

TEST_CASE("who reads no further is no crash") {
  auto got
    = run("workload generate --like synthetic --requests 100000 --out /dev/full");
  CHECK(got.code == 1);
  CHECK(holds(got.said, "/dev/full can't be written"));
}

} // namespace
} // namespace perigee::app
