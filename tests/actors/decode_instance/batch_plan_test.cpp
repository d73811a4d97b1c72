#include "actors/decode_instance/batch_plan.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace perigee::decode {
namespace {

using requests = std::vector<std::uint64_t>;

/// With as many blocks as its KV needs, of 4 tokens each.
candidate having(std::uint64_t request, std::uint32_t kv_tokens,
                 std::uint32_t steps_left = 100) {
  return {request, kv_tokens, steps_left, (kv_tokens + 3) / 4};
}

batch_limits with(std::size_t blocks_free, std::uint32_t steps_max = 1) {
  return {.block_tokens = 4,
          .batch_max = 4,
          .steps_max = steps_max,
          .blocks_free = blocks_free};
}

TEST_CASE("all run who fit into a batch, the oldest first") {
  std::vector<candidate> all;
  for (std::uint64_t request = 1; request <= 6; ++request)
    all.push_back(having(request, 5));
  auto plan = plan_batch(all, with(100));
  CHECK(plan.run == requests{1, 2, 3, 4});
  CHECK(plan.park.empty());
  CHECK(plan.steps == 1);
}

TEST_CASE("nobody is here: nothing is to do") {
  auto plan = plan_batch({}, with(3));
  CHECK(plan.run.empty());
  CHECK(plan.park.empty());
}

TEST_CASE("a run is as long as all of it has blocks and steps for") {
  std::vector<candidate> all{having(1, 4), having(2, 6, 7)};
  CHECK(plan_batch(all, with(100, 64)).steps == 7);
  CHECK(plan_batch(all, with(100, 5)).steps == 5);
  CHECK(plan_batch(all, with(1, 64)).steps == 2); // then the second needs one, too
  CHECK(plan_batch(all, with(2, 64)).steps == 4);
}

TEST_CASE("a batch has no more news for the engine than one message holds") {
  std::vector<candidate> all{having(1, 5), having(2, 5), having(3, 5), having(4, 5)};
  all[1].news_bytes = 60;
  all[2].news_bytes = 60;
  all[3].news_bytes = 40;
  auto limits = with(100);
  limits.news_bytes_max = 100;
  CHECK(plan_batch(all, limits).run == requests{1, 2, 4});
  CHECK(plan_batch(all, limits).park.empty());
  all[1].news_bytes = 0; // it is known now
  CHECK(plan_batch(all, limits).run == requests{1, 2, 3, 4});
  all[2].news_bytes = 300; // more than a batch's, but it is alone
  CHECK(plan_batch(all, limits).run == requests{1, 2, 3});
}

TEST_CASE("when blocks run out, the youngest leaves, and others go on") {
  std::vector<candidate> all{having(1, 5), having(2, 8), having(3, 9)};
  auto plan = plan_batch(all, with(0));
  CHECK(plan.run == requests{1});
  CHECK(plan.park == requests{3});
}

TEST_CASE("nobody leaves if somebody is leaving already, and that is enough") {
  std::vector<candidate> all{having(1, 5), having(2, 8)};
  auto limits = with(0);
  limits.blocks_coming = 2;
  auto plan = plan_batch(all, limits);
  CHECK(plan.run == requests{1});
  CHECK(plan.park.empty());
}

TEST_CASE("who waits for a place in the batch leaves before those in it") {
  std::vector<candidate> all;
  for (std::uint64_t request = 1; request <= 6; ++request)
    all.push_back(having(request, 8));
  auto plan = plan_batch(all, with(0));
  CHECK(plan.park == requests{6, 5});
  CHECK(plan.run.empty());
}

TEST_CASE("the oldest is never told to leave") {
  std::vector<candidate> all{having(1, 8)};
  auto plan = plan_batch(all, with(0));
  CHECK(plan.run.empty());
  CHECK(plan.park.empty());
}

TEST_CASE("a plan never needs more blocks than are free, and always leads on") {
  std::mt19937 dice{11};
  for (int round = 0; round < 5000; ++round) {
    std::vector<candidate> all;
    for (std::uint64_t request = 0; request < 1 + dice() % 9; ++request)
      all.push_back(having(request, 1 + dice() % 20, 1 + dice() % 5));
    auto limits = with(dice() % 4, 1 + dice() % 8);
    auto plan = plan_batch(all, limits);
    std::size_t blocks = 0;
    for (auto request : plan.run)
      blocks += blocks_lacking(all[request], plan.steps, 4);
    CHECK(blocks <= limits.blocks_free);
    CHECK(plan.run.size() <= limits.batch_max);
    CHECK(plan.run.empty() == (plan.steps == 0));
    CHECK((!plan.run.empty() || !plan.park.empty() || all.size() == 1));
    CHECK(std::find(plan.park.begin(), plan.park.end(), 0u) == plan.park.end());
  }
}

} // namespace
} // namespace perigee::decode
