#include "tests/actors/cache_shard/node.hpp"
#include "tests/lab/seeds.hpp"

#include <random>

// Everything at once, at random, under every seed: at the end every block is accounted
// for, and the conductor knows what is here.

namespace perigee::shard {
namespace {

using namespace std::chrono_literals;

class crowd {
public:
  explicit crowd(std::uint64_t seed, transport::modelled_disk_options disk = {})
    : dice_(seed),
      here_(seed, 24, {.leases_max = 5, .grants_max = 8, .spare_blocks = 3}, disk) {}

  void act() {
    switch (pick(8)) {
      case 0:
      case 1: return reserve();
      case 2: return park();
      case 3:
      case 4: return seal();
      case 5: return pin();
      case 6: return unpin();
      case 7: here_.bench.advance(std::chrono::milliseconds{pick(80)});
    }
  }

  void die() {
    here_.tell_of_loss(here_.bench.tag());
    for (auto grant : writing_)
      if (pick(3) == 0)
        here_.seal(grant); // was on its way
    if (!here_.asked.empty())
      here_.answer_quiesce(here_.asked.back()->getTicket());
    writing_.clear();
    kept_.clear();
    leases_.clear();
  }

  void finish() {
    for (auto grant : writing_)
      here_.seal(grant, false);
    for (auto grant : kept_)
      here_.release(grant);
    here_.bench.advance(1min); // no lease is longer
    here_.check_conservation();
    CHECK(here_.count("grants_overdue_total") == 0);
  }

private:
  std::uint64_t pick(std::uint64_t below) {
    return dice_() % below;
  }

  block_chain chain() {
    auto chain_number = pick(4);
    block_chain keys;
    for (std::uint64_t i = 0, length = 1 + pick(10); i < length; ++i)
      keys.push_back({i < 4 ? chain_number / 2 : 100 + chain_number, i});
    return keys;
  }

  void reserve() {
    auto said = here_.reserve(chain());
    if (said.isGranted() && said.getGranted().getId() != 0)
      writing_.push_back(said.getGranted().getId());
  }

  void park() {
    auto said = here_.reserve_private(static_cast<std::uint32_t>(1 + pick(4)));
    if (!said.isGranted())
      return;
    here_.seal(said.getGranted().getId());
    kept_.push_back(said.getGranted().getId());
  }

  void seal() {
    if (!kept_.empty() && pick(3) == 0)
      return here_.release(take_one(kept_));
    if (!writing_.empty())
      here_.seal(take_one(writing_), pick(4) != 0);
  }

  void pin() {
    auto said = here_.pin(chain());
    if (said.isLease())
      leases_.push_back(said.getLease().getId());
  }

  void unpin() {
    if (!leases_.empty())
      here_.unpin(take_one(leases_));
  }

  std::uint64_t take_one(std::vector<std::uint64_t>& from) {
    auto at = from.begin() + static_cast<std::ptrdiff_t>(pick(from.size()));
    auto one = *at;
    from.erase(at);
    return one;
  }

  std::mt19937_64 dice_;
  node here_;
  std::vector<std::uint64_t> writing_, kept_, leases_;
};

TEST_CASE("however a shard is used, and whoever dies, every block is accounted for") {
  FOR_EVERY_SEED(seed);
  crowd all{seed};
  for (int life = 0; life < 3; ++life) {
    for (int step = 0; step < 60; ++step)
      all.act();
    if (life < 2)
      all.die();
  }
  all.finish();
}

TEST_CASE("with a disk below, too, and the conductor knows what is where") {
  FOR_EVERY_SEED(seed);
  crowd all{seed,
            {.slots = 12,
             .read_bytes_per_s = 1e6,
             .write_bytes_per_s = 5e5,
             .latency = std::chrono::milliseconds{seed % 5},
             .depth = 2,
             .jobs_max = 2 + seed % 4}};
  for (int life = 0; life < 3; ++life) {
    for (int step = 0; step < 60; ++step)
      all.act();
    if (life < 2)
      all.die();
  }
  all.finish();
}

} // namespace
} // namespace perigee::shard
