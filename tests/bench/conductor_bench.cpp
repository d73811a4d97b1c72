/// \file
/// What a placement costs: the prefix index and the policies, at the size of a cluster.
/// Run by hand: `conductor_bench [nodes] [keys in millions]`.
#include "actors/conductor/load_book.hpp"
#include "actors/conductor/placement_policy.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

namespace perigee::conductor {
namespace {

/// Mean nanoseconds of `run(i)` over `times`: of this thread's own, for machines are
/// shared.
template <class Run>
double measure(std::uint64_t times, Run run) {
  auto begin = std::clock();
  for (std::uint64_t i = 0; i < times; ++i)
    run(i);
  auto seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return seconds * 1e9 / static_cast<double>(times);
}

constexpr std::size_t chain_blocks = 128;

/// Chains begin with a system prompt of one block, which all have in common.
block_chain chain_of(std::uint64_t conversation) {
  block_chain chain(chain_blocks);
  std::mt19937_64 keys{conversation};
  for (auto& key : chain)
    key = {keys(), keys()};
  chain.front() = {1, 1};
  return chain;
}

void fill(prefix_index& index, std::uint64_t chains, std::uint32_t nodes) {
  auto took = measure(chains, [&](std::uint64_t i) {
    index.store(node_index{static_cast<std::uint32_t>(i % nodes)}, tier::dram,
                chain_of(i));
  });
  std::printf("store              %8.0f ns a block, %zu keys\n", took / chain_blocks,
              index.size());
}

/// Instances that each have `requests` of their own.
load_book busy_book(std::uint32_t nodes, std::uint64_t requests) {
  load_book book{{}};
  for (std::uint32_t i = 0; i < nodes; ++i) {
    book.seat(group_id{node_index{i}, 0}, {});
    book.seat(instance_id{node_index{i}, 0}, {});
  }
  for (std::uint64_t i = 0; i < nodes * requests; ++i) {
    auto node = node_index{static_cast<std::uint32_t>(i % nodes)};
    placement one{.request = request_id{i},
                  .prefill = {node, 0},
                  .decode = {node, 0},
                  .prefill_time = std::chrono::milliseconds{1 + i % 7},
                  .uncached_tokens = 1000,
                  .prompt_tokens = 8000,
                  .arrives_at = std::chrono::milliseconds{i % 1000},
                  .expires_at = std::chrono::hours{1}};
    if (!book.place(one, {}))
      std::abort();
  }
  return book;
}

void measure_all(std::uint32_t nodes, std::uint64_t keys) {
  prefix_index index{keys};
  auto chains = keys / chain_blocks;
  fill(index, chains, nodes);
  std::vector<block_chain> asked;
  for (std::uint64_t i = 0; i < 1000; ++i)
    asked.push_back(chain_of(i * 7919 % chains));
  std::size_t found = 0;
  auto took = measure(asked.size(),
                      [&](std::uint64_t i) { found += index.runs(asked[i]).size(); });
  std::printf("runs, whole hit    %8.0f ns a block, %.1f shards\n", took / chain_blocks,
              static_cast<double>(found) / static_cast<double>(asked.size()));

  auto book = busy_book(nodes, 40);
  cost_model cost{.prefill = {98e6, 104'100, 0.923},
                  .decode = {26.2e6, 100'000, 35},
                  .link = {0, 87e9},
                  .disk = {0, 6e9},
                  .kv_token_bytes = 327'680};
  wish one{.prompt_tokens = chain_blocks * 16 + 1,
           .block_tokens = 16,
           .decodes = true,
           .ttft_limit = std::chrono::seconds{30},
           .tbt_limit = std::chrono::milliseconds{100}};
  auto held = index.runs(asked[0]);
  scene here{{}, book.all(), held, cost};
  for (auto name : placement_names()) {
    auto policy = make_placement(name, {});
    took = measure(
      200, [&](std::uint64_t) { found += policy->choose(one, here)->reuse_blocks; });
    std::printf("%-18s %8.1f us\n", std::string{name}.c_str(), took / 1e3);
  }
  if (found == 0)
    std::abort(); // and nothing was left out as unused
}

} // namespace
} // namespace perigee::conductor

int main(int count, char** words) {
  auto number = [&](int i, unsigned long otherwise) {
    return count > i ? std::strtoul(words[i], nullptr, 10) : otherwise;
  };
  auto nodes = number(1, 20), millions = number(2, 1);
  if (nodes == 0 || nodes > 4096 || millions == 0 || millions > 100) {
    std::fprintf(stderr,
                 "usage: conductor_bench [nodes, 1 to 4096] [millions of keys]\n");
    return 2;
  }
  perigee::conductor::measure_all(static_cast<std::uint32_t>(nodes),
                                  millions * 1'000'000);
}
