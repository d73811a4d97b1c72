#include "actors/cache_shard/block_ledger.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>

// A ledger against a model that keeps the same book in the simplest way, under random
// use. What must never happen is checked after every call.

namespace perigee::shard {
namespace {

constexpr std::uint32_t arena_blocks = 24;

/// Keys of four chains that share fronts: block i of chain n is the same as that of
/// chain n ^ 1 while i < 4.
block_chain chain_of(std::uint64_t n, std::size_t length) {
  block_chain keys;
  for (std::uint64_t i = 0; i < length; ++i)
    keys.push_back({i < 4 ? n / 2 : 100 + n, i});
  return keys;
}

constexpr block_key root{777, 777};

class careless_crowd {
public:
  explicit careless_crowd(std::uint64_t seed)
    : dice_(seed), subject_(arena_blocks, make_eviction_policy("lru")) {}

  void act() {
    switch (pick(6)) {
      case 0: return reserve_chain();
      case 1: return reserve_private();
      case 2: return end_writing(true);
      case 3: return end_writing(false);
      case 4: return lend();
      case 5: return give_back();
    }
  }

  void check() const {
    auto now = subject_.counts();
    std::set<block_number> held;
    std::size_t writing = 0, kept = 0;
    for (const auto& [owner, blocks] : writing_) {
      writing += blocks.size();
      held.insert(blocks.begin(), blocks.end());
    }
    for (const auto& [owner, blocks] : kept_) {
      kept += blocks.size();
      held.insert(blocks.begin(), blocks.end());
    }
    std::set<block_number> leased;
    for (const auto& one : leases_)
      leased.insert(one.blocks.begin(), one.blocks.end());
    CHECK(held.size() == writing + kept); // nobody shares with a writer
    CHECK(now.writing == writing);
    CHECK(now.kept == kept);
    CHECK(now.leased == leased.size());
    CHECK(now.free + now.writing + now.sealed + now.kept == arena_blocks);
    std::vector<block_number> both;
    std::ranges::set_intersection(held, leased, std::back_inserter(both));
    CHECK(both.empty());
    CHECK(now.sealed == here_.size());
    for (const auto& key : here_)
      CHECK(subject_.contains(key));
  }

  void finish() {
    while (!writing_.empty())
      end_writing(pick(2) == 0);
    while (!kept_.empty())
      give_back_private();
    while (!leases_.empty())
      give_back_lease();
    check();
    CHECK(subject_.leases() == 0);
    auto all = subject_.reserve(next_owner(), arena_blocks); // every block can be had
    CHECK(all.items.size() == arena_blocks);
    CHECK(all.evicted.size() == here_.size());
  }

private:
  std::uint64_t pick(std::uint64_t below) {
    return dice_() % below;
  }

  owner_id next_owner() {
    return owner_id{++owners_};
  }

  void took(owner_id owner, const block_ledger::reservation& got) {
    for (const auto& key : got.evicted) {
      CHECK(here_.erase(key) == 1);
      for (const auto& one : leases_)
        CHECK(std::ranges::count(one.keys, key) == 0);
    }
    std::vector<block_number> blocks;
    for (auto [index, block] : got.items)
      blocks.push_back(block);
    if (!blocks.empty())
      writing_.emplace_back(owner, blocks);
  }

  void reserve_chain() {
    auto keys = chain_of(pick(4), 1 + pick(10));
    auto owner = next_owner();
    auto got = subject_.reserve(owner, {root, 0, keys});
    took(owner, got);
    for (auto [index, block] : got.items)
      meant_[block] = keys.at(index);
  }

  void reserve_private() {
    auto blocks = 1 + pick(6);
    auto owner = next_owner();
    auto got = subject_.reserve(owner, blocks);
    CHECK((got.items.empty() || got.items.size() == blocks));
    took(owner, got);
    for (auto [index, block] : got.items)
      meant_.erase(block);
  }

  void end_writing(bool well) {
    if (writing_.empty())
      return;
    auto at = writing_.begin() + static_cast<std::ptrdiff_t>(pick(writing_.size()));
    auto [owner, blocks] = *at;
    writing_.erase(at);
    std::vector<block_number> kept;
    for (auto block : blocks) {
      CHECK_FALSE(subject_.free(block, owner_id{owners_ + 1})); // a stranger
      if (!well) {
        CHECK(subject_.free(block, owner));
        continue;
      }
      auto came = subject_.seal(block, owner);
      REQUIRE(came);
      if (*came == sealing::kept)
        kept.push_back(block);
      else
        CHECK(here_.insert(meant_.at(block)).second == (*came == sealing::stored));
    }
    if (!kept.empty())
      kept_.emplace_back(owner, kept);
  }

  void lend() {
    auto keys = chain_of(pick(4), 1 + pick(10));
    auto got = subject_.lend(keys);
    auto run = std::ranges::find_if(
      keys, [&](const block_key& key) { return !here_.contains(key); });
    CHECK((got ? got->blocks.size() : 0)
          == static_cast<std::size_t>(run - keys.begin()));
    if (!got)
      return;
    keys.resize(got->blocks.size());
    leases_.push_back({got->id, got->blocks, keys});
  }

  void give_back() {
    if (pick(2) == 0)
      give_back_private();
    else
      give_back_lease();
  }

  void give_back_private() {
    if (kept_.empty())
      return;
    auto [owner, blocks] = kept_.back();
    kept_.pop_back();
    for (auto block : blocks)
      CHECK(subject_.free(block, owner));
  }

  void give_back_lease() {
    if (leases_.empty())
      return;
    auto at = leases_.begin() + static_cast<std::ptrdiff_t>(pick(leases_.size()));
    CHECK(subject_.release(at->id));
    leases_.erase(at);
  }

  struct loan {
    lease_id id;
    std::vector<block_number> blocks;
    block_chain keys;
  };
  using owned = std::pair<owner_id, std::vector<block_number>>;

  std::mt19937_64 dice_;
  block_ledger subject_;
  std::uint64_t owners_ = 0;
  std::vector<owned> writing_, kept_;
  std::map<block_number, block_key> meant_; // of blocks being written
  std::set<block_key> here_;
  std::vector<loan> leases_;
};

TEST_CASE("a ledger's book balances however it is used") {
  const std::uint64_t seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{101}));
  CAPTURE(seed);
  careless_crowd crowd{seed};
  for (int step = 0; step < 200; ++step) {
    crowd.act();
    crowd.check();
  }
  crowd.finish();
}

} // namespace
} // namespace perigee::shard
