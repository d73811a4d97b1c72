#include "actors/transfer/transfer.hpp"
#include "tests/actors/cache_shard/node.hpp"
#include "tests/lab/seeds.hpp"

#include <cstring>

// A shard and a transfer actor, together: what is written into the pool comes out of
// it.

namespace perigee::shard {
namespace {

using namespace std::chrono_literals;

constexpr block_key a{1, 1}, b{1, 2};
constexpr std::uint64_t engine_segment = 77;

struct pool : node {
  explicit pool(std::uint64_t seed)
    : node(seed, 4),
      arena(std::make_shared<std::vector<std::byte>>(8 * small.block_bytes())),
      mover(bench.adopt(transfer::start(bench.world(), {},
                                        {segments, transport::gate_board::make()},
                                        transfer::inline_path, {}, moved))) {
    REQUIRE(segments->add(
      {transport::segment_id{engine_segment}, arena->data(), small, 8, arena}));
  }

  template <class T>
  void move(std::uint64_t from, std::uint64_t to, std::vector<std::uint32_t> sources,
            std::vector<std::uint32_t> targets) {
    bench.tell<T>(mover, [&](typename T::Builder wish) {
      set_asker(wish.initAsker(), prefill_name{});
      wish.setTicket(++tickets);
      auto what = wish.initWhat();
      what.setFrom(from);
      what.setTo(to);
      what.setSources({sources.data(), sources.size()});
      what.setTargets({targets.data(), targets.size()});
    });
    bench.settle();
  }

  void fill(std::uint32_t block, int with) {
    std::memset(arena->data() + block * small.block_bytes(), with, small.block_bytes());
  }

  int first_of(std::uint32_t block) const {
    return std::to_integer<int>((*arena)[block * small.block_bytes()]);
  }

  std::shared_ptr<std::vector<std::byte>> arena; // of an engine
  std::shared_ptr<transfer::probe> moved = std::make_shared<transfer::probe>();
  transfer_actor mover;
};

TEST_CASE("what one request has stored another reads") {
  FOR_EVERY_SEED(seed);
  pool here{seed};
  here.fill(0, 11);
  here.fill(1, 22);
  auto granted = here.reserve({a, b}).getGranted();
  auto items = granted.getItems();
  here.move<schema::Push>(engine_segment, granted.getSegment(), {0, 1},
                          {items[0].getBlock(), items[1].getBlock()});
  here.seal(granted.getId());
  here.fill(0, 0);
  here.fill(1, 0);

  auto lease = here.pin({a, b}).getLease();
  here.move<schema::Fetch>(lease.getSegment(), engine_segment,
                           {lease.getBlocks()[0], lease.getBlocks()[1]}, {6, 7});
  here.unpin(lease.getId());
  CHECK(here.first_of(6) == 11);
  CHECK(here.first_of(7) == 22);
  here.check_conservation();
}

TEST_CASE("after a shard's restart nothing that was under way reaches the new arena") {
  FOR_EVERY_SEED(seed);
  pool here{seed};
  auto granted = here.reserve({a}).getGranted();
  rt::kill(here.subject);
  here.bench.settle();
  here.subject = here.start_one(2);
  here.fill(0, 11);
  here.move<schema::Push>(engine_segment, granted.getSegment(), {0}, {0});
  std::map<std::string, std::uint64_t> seen;
  here.moved->each([&](auto name, auto, auto value) { seen[name] = value; });
  CHECK(seen.at("gone_total") == 1);
  CHECK(seen.at("movements_total") == 0);
}

} // namespace
} // namespace perigee::shard
