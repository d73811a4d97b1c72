#include "apps/perigee/workload_cache.hpp"

#include "actors/cache_shard/lone_pool.hpp"
#include "apps/perigee/trace_source.hpp"
#include "workload/request.hpp"

#include <cstdio>
#include <memory>
#include <unordered_set>

namespace perigee::app {
namespace {

using shard::eviction_policy_names;

constexpr std::uint32_t blocks_max = 1u << 24;
constexpr std::size_t pools_max = 64;

struct cache_arguments {
  trace_source from;
  std::vector<std::string> policies;
  std::vector<std::uint32_t> blocks{1'000, 10'000, 30'000, 50'000, 100'000};
  bool json = false;
};

/// What each pool would have spared of one trace.
class cache_trial {
public:
  explicit cache_trial(const cache_arguments& how) : how_(how) {
    for (const auto& policy : how.policies)
      for (auto blocks : how.blocks)
        pools_.push_back(
          {shard::lone_pool{blocks, shard::make_eviction_policy(policy)}, 0});
  }

  void add(const workload::request& one) {
    block_chain chain;
    chain.reserve(one.block_ids.size());
    bool all_seen = true;
    for (auto id : one.block_ids) {
      chain.push_back({0, id});
      all_seen = !seen_.insert(id).second && all_seen;
      endless_hits_ += all_seen;
    }
    for (auto& tried : pools_)
      tried.hits += tried.holds.serve(chain);
    blocks_ += chain.size();
    ++requests_;
  }

  void print_table() const {
    std::printf("hit rate: leading blocks that were there, of %llu blocks in %zu "
                "requests\n\n%-14s",
                static_cast<unsigned long long>(blocks_), requests_, "blocks");
    for (auto blocks : how_.blocks)
      std::printf("%10u", blocks);
    std::printf("%10s\n", "endless");
    for (std::size_t row = 0; row < how_.policies.size(); ++row) {
      std::printf("%-14s", how_.policies[row].c_str());
      for (std::size_t column = 0; column < how_.blocks.size(); ++column)
        std::printf("%10.4f", share(hits(row, column)));
      std::printf("%10.4f\n", share(endless_hits_));
    }
  }

  void print_json() const {
    std::printf("{\"requests\":%zu,\"blocks\":%llu,\"endless\":%.6f,\"pools\":[",
                requests_, static_cast<unsigned long long>(blocks_),
                share(endless_hits_));
    for (std::size_t row = 0; row < how_.policies.size(); ++row)
      for (std::size_t column = 0; column < how_.blocks.size(); ++column)
        std::printf("%s{\"policy\":\"%s\",\"blocks\":%u,\"hit_rate\":%.6f}",
                    row + column == 0 ? "" : ",", how_.policies[row].c_str(),
                    how_.blocks[column], share(hits(row, column)));
    std::printf("]}\n");
  }

private:
  struct trial {
    shard::lone_pool holds;
    std::uint64_t hits;
  };

  std::uint64_t hits(std::size_t row, std::size_t column) const {
    return pools_[row * how_.blocks.size() + column].hits;
  }

  double share(std::uint64_t of) const {
    return blocks_ == 0 ? 0 : static_cast<double>(of) / static_cast<double>(blocks_);
  }

  const cache_arguments& how_;
  std::vector<trial> pools_; // by policy, then by blocks
  std::unordered_set<std::uint64_t> seen_;
  std::uint64_t endless_hits_ = 0;
  std::uint64_t blocks_ = 0;
  std::size_t requests_ = 0;
};

exit_code fail(const std::string& why, exit_code how = exit_code::failed) {
  std::fprintf(stderr, "perigee workload cache: %s\n", why.c_str());
  return how;
}

exit_code run(const cache_arguments& how) {
  if (how.policies.size() * how.blocks.size() > pools_max)
    return fail("at most " + std::to_string(pools_max) + " pools at once",
                exit_code::misused);
  auto trace = open_trace(how.from);
  if (!trace)
    return fail(trace.error());
  cache_trial all{how};
  for (;;) {
    auto got = (*trace)->requests().next();
    if (!got)
      return fail(to_string(got.error()));
    if (!*got)
      break;
    all.add(**got);
  }
  say_skipped("workload cache", (*trace)->skipped());
  how.json ? all.print_json() : all.print_table();
  return exit_code::good;
}

} // namespace

void add_cache(CLI::App& to, session& all) {
  auto how = std::make_shared<cache_arguments>();
  std::vector<std::string> names;
  for (auto name : eviction_policy_names())
    names.emplace_back(name);
  how->policies = names;
  auto* cache = to.add_subcommand(
    "cache", "Say what one pool of so many blocks would have spared of a trace, by "
             "eviction policy: requests one after the other, no time in between");
  cache->add_option("TRACE", how->from.file, "A trace in Mooncake's format")
    ->required();
  cache->add_option("--policy", how->policies, "Eviction policies")
    ->delimiter(',')
    ->check(CLI::IsMember(names))
    ->capture_default_str();
  cache
    ->add_option("--blocks", how->blocks, "Sizes of the pool, in blocks of 512 tokens")
    ->delimiter(',')
    ->check(CLI::Range(std::uint32_t{1}, blocks_max))
    ->capture_default_str();
  cache->add_flag("--json", how->json, "One JSON object in place of the table");
  add_trace_options(*cache, how->from);
  cache->callback([how, &all] { all.left = run(*how); });
}

} // namespace perigee::app
