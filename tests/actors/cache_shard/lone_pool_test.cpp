#include "actors/cache_shard/lone_pool.hpp"

#include "tests/workload/reading.hpp"
#include "workload/cut.hpp"
#include "workload/like_generator.hpp"

#include <catch2/catch.hpp>

#include <fstream>

namespace perigee::shard {
namespace {

block_chain chain_of(const std::vector<std::uint64_t>& ids) {
  block_chain chain;
  for (auto id : ids)
    chain.push_back({0, id});
  return chain;
}

/// Blocks found, as a share of all, of chains that come one after the other.
double hit_rate(const std::vector<workload::request>& all, const char* policy,
                std::uint32_t blocks) {
  lone_pool pool{blocks, make_eviction_policy(policy)};
  std::size_t hits = 0, asked = 0;
  for (const auto& one : all) {
    hits += pool.serve(chain_of(one.block_ids));
    asked += one.block_ids.size();
  }
  return static_cast<double>(hits) / static_cast<double>(asked);
}

/// A pool in the plainest words: no chains, a block goes whatever follows it.
double plain_hit_rate(const std::vector<workload::request>& all, const char* policy,
                      std::size_t blocks) {
  auto ranks = make_eviction_policy(policy);
  std::map<std::uint64_t, block_use> held;
  std::set<std::pair<eviction_rank, std::uint64_t>> order;
  std::size_t hits = 0, asked = 0;
  std::uint64_t now = 0;
  for (const auto& one : all) {
    bool leads = true;
    for (std::uint32_t depth = 0; depth < one.block_ids.size(); ++depth) {
      auto id = one.block_ids[depth];
      auto at = held.find(id);
      leads = leads && at != held.end();
      hits += leads;
      ++asked;
      if (at == held.end() && held.size() == blocks) {
        held.erase(order.begin()->second);
        order.erase(order.begin());
      }
      if (at == held.end()) {
        at = held.emplace(id, block_use{0, 0, depth}).first;
      } else {
        order.erase({ranks->rank(at->second), id});
        ++at->second.uses;
      }
      at->second.last = ++now;
      order.emplace(ranks->rank(at->second), id);
    }
  }
  return static_cast<double>(hits) / static_cast<double>(asked);
}

std::vector<workload::request> generated(std::size_t requests) {
  workload::like_generator endless{*workload::find_likeness("conversation"), 7};
  workload::cut_source some{endless, {.first = requests}};
  return workload::read_all(some).requests;
}

TEST_CASE("a pool has what came before, as long as there is room") {
  lone_pool pool{4, make_eviction_policy("lru")};
  CHECK(pool.serve(chain_of({1, 2, 3})) == 0);
  CHECK(pool.serve(chain_of({1, 2, 3})) == 3);
  CHECK(pool.serve(chain_of({1, 2, 9, 10})) == 2); // 3 makes room for 10
  CHECK(pool.serve(chain_of({1, 2, 3})) == 2);
  CHECK(pool.ledger().counts() == block_counts{.sealed = 4});
}

TEST_CASE("of a chain longer than the pool, the front stays") {
  lone_pool pool{2, make_eviction_policy("lfu")};
  CHECK(pool.serve(chain_of({1, 2, 3, 4})) == 0);
  CHECK(pool.serve(chain_of({1, 2, 3, 4})) == 2);
  CHECK(pool.serve({}) == 0);
}

TEST_CASE(
  "that chains shrink from their tails costs a pool of many prompts next to no hits") {
  auto all = generated(1500);
  for (auto name : eviction_policy_names())
    for (std::uint32_t blocks : {1'000u, 3'000u, 10'000u}) {
      std::string policy{name};
      INFO(policy << ' ' << blocks);
      CHECK(hit_rate(all, policy.c_str(), blocks)
            == Approx(plain_hit_rate(all, policy.c_str(), blocks)).margin(.005));
    }
}

// An independent replay's figures: leading blocks found, of all, in order of time.
TEST_CASE("the published conversation trace hits as often as others found") {
  auto file = workload::published_trace("conversation_trace.jsonl");
  if (!file) {
    WARN("no published trace here");
    return;
  }
  std::ifstream stream{*file};
  workload::mooncake_reader reader{stream, *file};
  auto all = workload::read_all(reader).requests;
  REQUIRE(all.size() == 12'031);
  CHECK(hit_rate(all, "lru", 1'000) == Approx(.044).margin(.002));
  CHECK(hit_rate(all, "lru", 30'000) == Approx(.326).margin(.002));
  CHECK(hit_rate(all, "lfu", 1'000) == Approx(.048).margin(.002));
  CHECK(hit_rate(all, "lfu", 30'000) == Approx(.276).margin(.002));
  CHECK(hit_rate(all, "length_aware", 1'000) == Approx(.050).margin(.002));
  CHECK(hit_rate(all, "length_aware", 30'000) == Approx(.203).margin(.002));
}

} // namespace
} // namespace perigee::shard
