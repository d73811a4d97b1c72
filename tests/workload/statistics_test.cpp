#include "workload/statistics.hpp"

#include "tests/workload/reading.hpp"

#include <fstream>

namespace perigee::workload {
namespace {

using namespace std::chrono_literals;

TEST_CASE("only leading blocks that were seen before are hits") {
  statistics all;
  all.add({0s, 1000, 10, {1, 2}, {}});
  all.add({1s, 1536, 20, {1, 2, 3}, {}}); // two of three
  all.add({1s, 1024, 30, {9, 2}, {}});    // its second block is of no use
  all.add({3s, 1000, 40, {1, 2}, {}});    // the last block is full of 488 tokens
  auto got = all.summary();
  CHECK(got.requests == 4);
  CHECK(got.duration == 3s);
  CHECK(got.arrival_times == 3);
  CHECK(got.blocks == 9);
  CHECK(got.blocks_different == 4);
  CHECK(got.blocks_once == 2);
  CHECK(got.hottest == std::vector<std::uint64_t>{4, 3, 1, 1});
  CHECK(got.hits.by_blocks == Approx(4.0 / 9));
  CHECK(got.hits.by_tokens == Approx((1024.0 + 1000) / 4560));
  CHECK(got.hits.per_request == Approx((1024.0 / 1536 + 1) / 4));
  CHECK(got.output.mean == Approx(25));
  CHECK(got.output.p50 == 30);
  CHECK(got.input.least == 1000);
  CHECK(got.input.most == 1536);
  REQUIRE(got.by_depth.size() == 3);
  CHECK(got.by_depth[0].hits == 2);
  CHECK(got.by_depth[1].hits == 2);
  CHECK(got.by_depth[2].from == 2);
  CHECK(got.by_depth[2].blocks == 1);
  CHECK(got.by_depth[2].hits == 0);
}

TEST_CASE("of nothing there are statistics, too") {
  auto got = statistics{}.summary();
  CHECK(got.requests == 0);
  CHECK(got.duration == 0s);
  CHECK(got.hits.by_blocks == 0);
  CHECK(got.by_depth.empty());
}

TEST_CASE("the published conversation trace has the statistics that are published") {
  auto file = published_trace("conversation_trace.jsonl");
  if (!file) {
    WARN("skipped: the trace isn't at hand");
    return;
  }
  std::ifstream from{*file};
  mooncake_reader reader{from, *file};
  statistics all;
  for (const auto& one : read_all(reader).requests)
    all.add(one);
  auto got = all.summary();
  CHECK(got.requests == 12'031);
  CHECK(got.arrival_times == 1'180);
  CHECK(got.input.mean == Approx(12'035.1).margin(0.05));
  CHECK(got.output.mean == Approx(342.6).margin(0.05));
  CHECK(got.input.p50 == 6'909);
  CHECK(got.input.p99 == 85'401);
  CHECK(got.output.p90 == 597);
  CHECK(got.blocks == 288'500);
  CHECK(got.blocks_different == 182'790);
  CHECK(got.hottest[0] == 12'031);
  CHECK(got.hottest[1] == 43);
  CHECK(got.hits.by_blocks == Approx(0.366).margin(0.0005));
  CHECK(got.hits.by_tokens == Approx(0.374).margin(0.0005));
  CHECK(got.hits.per_request == Approx(0.409).margin(0.0005));
}

} // namespace
} // namespace perigee::workload
