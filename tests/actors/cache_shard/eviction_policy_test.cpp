#include "actors/cache_shard/eviction_policy.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace perigee::shard {
namespace {

/// In the order in which `policy` gives them up, by the names a, b, c, ...
std::string given_up(const char* policy, const std::vector<block_use>& uses) {
  auto ranks = make_eviction_policy(policy);
  REQUIRE(ranks);
  std::string order;
  for (std::size_t i = 0; i < uses.size(); ++i)
    order += static_cast<char>('a' + i);
  std::ranges::sort(order, {}, [&](char one) {
    return ranks->rank(uses[static_cast<std::size_t>(one - 'a')]);
  });
  return order;
}

// a: used often, long ago; b: never, just now, deep; c: never, before, at the front
const std::vector<block_use> three{{1, 9, 5}, {8, 0, 7}, {6, 0, 0}};

TEST_CASE("lru gives up what was not used for longest") {
  CHECK(given_up("lru", three) == "acb");
}

TEST_CASE("lfu gives up what was used least, of equals what was not for longest") {
  CHECK(given_up("lfu", three) == "cba");
}

TEST_CASE("length_aware gives up what was used least, of equals the deepest") {
  CHECK(given_up("length_aware", three) == "bca");
}

TEST_CASE("of blocks used in one go, every policy gives up the deepest first") {
  for (auto name : eviction_policy_names())
    CHECK(given_up(std::string{name}.c_str(), {{3, 1, 0}, {3, 1, 2}, {3, 1, 1}})
          == "bca");
}

TEST_CASE("there is a policy of every name, and of no other") {
  for (auto name : eviction_policy_names())
    CHECK(make_eviction_policy(name));
  CHECK_FALSE(make_eviction_policy("fifo"));
  CHECK_FALSE(make_eviction_policy(""));
}

} // namespace
} // namespace perigee::shard
