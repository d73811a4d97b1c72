#include "tests/actors/cache_shard/node.hpp"
#include "tests/lab/seeds.hpp"

// What a shard tells the conductor.

namespace perigee::shard {
namespace {

using namespace std::chrono_literals;

constexpr block_key a{1, 1}, b{1, 2}, c{1, 3}, x{2, 1}, y{2, 2};

TEST_CASE("news go out at once, and then at most so often") {
  FOR_EVERY_SEED(seed);
  node here{seed, 8, {.news_every = 100ms}};
  auto begin = here.bench.now();
  here.store({a});
  CHECK(here.told.news == 1);
  here.bench.advance(10ms);
  here.store({b}, 1, a);
  here.store({c}, 2, b);
  CHECK(here.told.news == 1);
  here.bench.advance(1s);
  CHECK(here.told.news == 2);
  CHECK(here.told.at == std::vector{begin, begin + 100ms});
  CHECK(here.told.here == std::set<block_key>{a, b, c});
}

TEST_CASE("what came and went between two news is none") {
  FOR_EVERY_SEED(seed);
  node here{seed, 1};
  here.store({a});
  here.store({x});
  here.store({y}); // x was here for no time
  here.bench.advance(1s);
  CHECK(here.told.here == std::set<block_key>{y});
  CHECK(here.told.number == 3); // a; then a gone, and y
}

TEST_CASE("a recount holds all that is here, up to a number") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.recount();
  CHECK(here.told.parts == 1); // even if that is nothing
  here.store({a});
  here.store({x, y}); // not told yet
  here.recount();
  CHECK(here.told.here == std::set<block_key>{a, x, y});
  CHECK(here.told.number == 2);
  CHECK(here.told.parts == 2);
  here.bench.advance(1s);
  CHECK(here.told.number == 2);
}

TEST_CASE("nobody but the conductor has a shard recount") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto other = here.bench.world();
  other.where.index = 7;
  rt::doorway stranger{other, "stranger"};
  stranger.tell<schema::Recount>(here.subject, rt::unprompted, [](auto) {});
  here.bench.settle();
  CHECK(here.told.parts == 0);
  CHECK(here.count("stale_total") == 1);
}

} // namespace
} // namespace perigee::shard
