#include "tests/actors/cache_shard/node.hpp"
#include "tests/lab/seeds.hpp"

#include <cstring>

// A shard over a disk.

namespace perigee::shard {
namespace {

using namespace std::chrono_literals;
using keys = std::set<block_key>;

constexpr block_key a{1, 1}, b{1, 2}, c{1, 3}, x{2, 1}, y{2, 2};

constexpr std::uint64_t block_bytes = small.layers * small.layer_bytes;

/// A block in 128 us, and 1 ms for each command.
constexpr transport::modelled_disk_options slow_disk{
  .slots = 8, .read_bytes_per_s = 1e6, .write_bytes_per_s = 1e6, .latency = 1ms};

options keeps_spare(std::size_t blocks) {
  options how;
  how.spare_blocks = blocks;
  return how;
}

struct tiers : node {
  explicit tiers(std::uint64_t seed, options how = keeps_spare(1),
                 transport::modelled_disk_options disk = slow_disk)
    : node(seed, 4, std::move(how), disk) {}

  std::byte* bytes_of(std::uint32_t block) {
    return segments->find(transport::segment_id{1})->base + block * block_bytes;
  }

  /// Stores one block whose bytes are all `with`.
  void store_filled(block_key key, int with, std::uint32_t depth = 0,
                    block_key parent = root) {
    auto granted = reserve({key}, depth, parent).getGranted();
    REQUIRE(granted.getItems().size() == 1);
    std::memset(bytes_of(granted.getItems()[0].getBlock()), with, block_bytes);
    seal(granted.getId());
    bench.advance(10ms);
  }
};

TEST_CASE("what was not used for longest falls to the disk while memory is short") {
  FOR_EVERY_SEED(seed);
  tiers here{seed};
  here.store({a, b});
  here.store({x});
  CHECK(here.count("blocks_free") == 1);
  here.store({y}, 1, x);
  CHECK(here.count("blocks_ssd_moving") == 1);
  here.bench.advance(1s);
  CHECK(here.told.here == keys{a, b, x, y});
  CHECK(here.told.on_disk == keys{b}); // a chain shrinks from its tail
  CHECK(here.count("blocks_ssd") == 1);
  CHECK(here.count("blocks_fallen_total") == 1);
  CHECK(here.count("blocks_free") == 1);
  here.check_conservation();
}

TEST_CASE("what is on the disk climbs for who asks, with the bytes that it fell with") {
  FOR_EVERY_SEED(seed);
  tiers here{seed};
  here.store_filled(a, 11);
  here.store_filled(b, 22, 1, a);
  here.store_filled(x, 33);
  here.store_filled(y, 44, 1, x);
  here.store_filled({3, 3}, 55);
  here.bench.advance(1s);
  CHECK(here.told.on_disk == keys{a, b});
  auto asked = here.bench.now();
  here.ask_pin({a, b});
  CHECK_FALSE(here.heard.pinned.contains(here.tickets));
  here.bench.advance(2 * 128us + 1ms - 1ns);
  CHECK_FALSE(here.heard.pinned.contains(here.tickets));
  here.bench.advance(1ns);
  REQUIRE(here.heard.pinned.contains(here.tickets));
  CHECK(here.bench.now() == asked + 2 * 128us + 1ms);
  auto lease = here.heard.pinned.at(here.tickets)->getLease();
  CHECK(lease.getTier() == schema::Tier::SSD);
  REQUIRE(lease.getBlocks().size() == 2);
  CHECK(here.bytes_of(lease.getBlocks()[0])[0] == std::byte{11});
  CHECK(here.bytes_of(lease.getBlocks()[1])[block_bytes - 1] == std::byte{22});
  CHECK(here.count("ssd_reads_total") == 1);
  CHECK(here.count("blocks_climbed_total") == 2);
  here.unpin(lease.getId());
  here.check_conservation();
  CHECK_FALSE(here.told.on_disk.contains(a));
}

TEST_CASE("a prefix may be in memory in front and on the disk behind") {
  FOR_EVERY_SEED(seed);
  tiers here{seed};
  here.store({a, b, c}); // three of four
  here.store({x});
  here.bench.advance(1s);
  CHECK(here.told.on_disk == keys{c});
  auto lease = here.pin({a, b, c}).getLease();
  CHECK(lease.getBlocks().size() == 3);
  CHECK(lease.getTier() == schema::Tier::SSD);
  here.unpin(lease.getId());
  CHECK(here.pin({a, b}).getLease().getTier() == schema::Tier::DRAM);
  here.bench.advance(1min);
  here.check_conservation();
}

TEST_CASE("who cannot wait for the disk has what is in memory") {
  FOR_EVERY_SEED(seed);
  auto how = keeps_spare(1);
  how.climb_limit = 1ms;
  tiers here{seed, how};
  here.store({a, b, c});
  here.store({x});
  here.bench.advance(1s);
  here.ask_pin({a, b, c});
  here.bench.advance(1ms);
  REQUIRE(here.heard.pinned.contains(here.tickets));
  CHECK(here.heard.pinned.at(here.tickets)->getLease().getBlocks().size() == 2);
  CHECK(here.count("climbs_late_total") == 1);
  here.bench.advance(10ms);
  CHECK(here.count("blocks_climbed_total") == 1); // for the next
  here.bench.advance(1min);
  here.check_conservation();
}

TEST_CASE(
  "who asks for nothing but what the disk has, and it is late, hears that it is gone") {
  FOR_EVERY_SEED(seed);
  auto how = keeps_spare(2);
  how.climb_limit = 1ms;
  tiers here{seed, how};
  here.store({a});
  here.store({x, y});
  here.bench.advance(1s);
  CHECK(here.told.on_disk == keys{a});
  here.ask_pin({a});
  here.bench.advance(1ms);
  CHECK(here.heard.pinned.at(here.tickets)->isGone());
  here.bench.advance(1min);
  here.check_conservation();
}

TEST_CASE("what a reader that is gone waited for is nobody's") {
  FOR_EVERY_SEED(seed);
  tiers here{seed};
  here.store({a, b, c});
  here.store({x});
  here.bench.advance(1s);
  here.ask_pin({a, b, c});
  here.tell_of_loss(here.bench.tag());
  CHECK(here.count("blocks_leased") == 0);
  here.bench.advance(1s);
  here.check_conservation();
}

TEST_CASE("a full disk lets go by the same policy") {
  FOR_EVERY_SEED(seed);
  auto disk = slow_disk;
  disk.slots = 2;
  tiers here{seed, keeps_spare(1), disk};
  for (std::uint64_t i = 0; i < 8; ++i) {
    here.store({{7, i}});
    here.bench.advance(10ms);
  }
  here.bench.advance(1s);
  CHECK(here.told.on_disk == keys{{7, 3}, {7, 4}}); // 5 to 7 are in memory
  CHECK(here.count("blocks_fallen_off_total") == 3);
  here.check_conservation();
}

TEST_CASE("who needs room need not wait for the disk: what has not fallen is evicted") {
  FOR_EVERY_SEED(seed);
  tiers here{seed};
  here.store({a});
  here.store({b});
  here.store({x});
  CHECK(here.reserve({{5, 5}, {5, 6}}).getGranted().getItems().size() == 2);
  CHECK(here.count("blocks_evicted_total") > 0);
  here.tell_of_loss(here.bench.tag());
  here.answer_quiesce(here.asked.back()->getTicket());
  here.bench.advance(1s);
  here.check_conservation();
}

TEST_CASE("a block that has fallen before falls without being written again") {
  FOR_EVERY_SEED(seed);
  tiers here{seed};
  here.store({a});
  here.store({b});
  here.store({x});
  here.store({y});
  here.bench.advance(1s);
  CHECK(here.told.on_disk == keys{a});
  here.unpin(here.pin({a}).getLease().getId()); // climbs; b falls
  here.bench.advance(10ms);
  here.unpin(here.pin({x}).getLease().getId());
  here.unpin(here.pin({y}).getLease().getId());
  here.store({{5, 5}}); // a falls again
  here.bench.advance(1s);
  CHECK(here.told.on_disk == keys{a, b});
  CHECK(here.count("blocks_fallen_total") == 2);
  here.check_conservation();
}

} // namespace
} // namespace perigee::shard
