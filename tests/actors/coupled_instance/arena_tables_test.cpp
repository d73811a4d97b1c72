#include "actors/coupled_instance/arena_tables.hpp"

#include "tests/actors/coupled_instance/texts.hpp"

#include <catch2/catch.hpp>

namespace perigee::test {
namespace {

using coupled::arena_tables;

constexpr std::uint32_t whole = 1 << 20;

std::size_t used(const arena_tables& all) {
  auto now = all.counts();
  return now.writing + now.leased;
}

SCENARIO("sequences that begin alike share blocks as soon as they were computed") {
  GIVEN("an arena that keeps, and a sequence in it") {
    arena_tables all{20, block_tokens, true};
    auto first = text_of(1, 50, 48);
    auto one = all.open(first, whole, 0);
    REQUIRE(one);
    CHECK(one->cached_tokens == 0);
    CHECK(all.blocks_of(one->id).size() == 4);

    WHEN("nothing of it was computed yet") {
      auto two = all.open(text_of(1, 60, 48), whole, 0);
      THEN("another one finds nothing") {
        CHECK(two->cached_tokens == 0);
      }
    }
    WHEN("two blocks of it were") {
      all.store(one->id, first, 33);
      auto second = text_of(1, 60, 48);
      CHECK(all.cached(second) == 32);
      auto two = all.open(second, whole, 0);
      THEN("the other begins with them, and takes no blocks for them") {
        CHECK(two->cached_tokens == 32);
        CHECK(all.blocks_of(two->id)[0] == all.blocks_of(one->id)[0]);
        CHECK(all.blocks_of(two->id)[1] == all.blocks_of(one->id)[1]);
        CHECK(all.blocks_of(two->id)[2] != all.blocks_of(one->id)[2]);
        CHECK(used(all) == 4 + 2);
      }
      THEN("they stay while either has them") {
        all.close(one->id);
        CHECK(used(all) == 4);
        all.close(two->id);
        CHECK(used(all) == 0);
        CHECK(all.available() == 20);
      }
    }
    WHEN("both compute the same") {
      auto second = text_of(1, 60, 48);
      auto two = all.open(second, whole, 0);
      all.store(one->id, first, 50);
      all.store(two->id, second, 60);
      THEN("each keeps its own, and the first one's are found") {
        CHECK(all.blocks_of(two->id)[0] != all.blocks_of(one->id)[0]);
        auto three = all.open(text_of(1, 49, 48), whole, 0);
        CHECK(three->cached_tokens == 48);
        CHECK(all.blocks_of(three->id)[0] == all.blocks_of(one->id)[0]);
        for (auto id : {one->id, two->id, three->id})
          all.close(id);
        CHECK(used(all) == 0);
      }
    }
  }
}

TEST_CASE("of a prompt that is there whole, the last token is computed all the same") {
  arena_tables all{20, block_tokens, true};
  auto first = text_of(1, 48, 48);
  auto one = all.open(first, whole, 0);
  all.store(one->id, first, 48);
  CHECK(all.cached(text_of(1, 48, 48)) == 32);
}

TEST_CASE("a prompt that is to be scored finds nothing") {
  arena_tables all{20, block_tokens, true};
  auto first = text_of(1, 48, 48);
  all.store(all.open(first, whole, 0)->id, first, 48);
  coupled::sequence::prompt scored{first.tokens(), {}, first.keys(), false};
  CHECK(all.cached(coupled::sequence{std::move(scored), 1, block_tokens}) == 0);
}

TEST_CASE("an arena that keeps nothing is as free as before, and finds nothing") {
  arena_tables all{20, block_tokens, false};
  auto first = text_of(1, 48, 48);
  auto one = all.open(first, whole, 0);
  all.store(one->id, first, 48);
  CHECK(all.cached(text_of(1, 60, 48)) == 0);
  all.close(one->id);
  CHECK(all.counts().free == 20);
}

TEST_CASE("what nobody uses gives way, and is news") {
  arena_tables all{4, block_tokens, true};
  auto first = text_of(1, 64, 64);
  auto one = all.open(first, whole, 0);
  all.store(one->id, first, 64);
  CHECK(all.changes().take().stored.size() == 4);
  all.close(one->id);
  auto two = all.open(text_of(2, 30), whole, 0);
  REQUIRE(two);
  CHECK(all.changes().take().evicted.size() == 2);
  CHECK(all.cached(text_of(1, 64, 64)) == 32); // a chain shrinks from its tail
}

TEST_CASE("what an answer filled is found by the next turn") {
  arena_tables all{20, block_tokens, true};
  auto first = text_of(1, 20, 20);
  auto one = all.open(first, whole, 0);
  for (std::uint32_t token = 0; token < 30; ++token)
    first.append(7000 + token);
  REQUIRE(all.grow(one->id, 50));
  all.store(one->id, first, 49);
  coupled::sequence::prompt next{first.tokens(), {}, {}};
  next.tokens.push_back(9);
  next.keys = keys_of({}, next.tokens, block_tokens);
  CHECK(all.cached(coupled::sequence{std::move(next), 1, block_tokens}) == 48);
}

TEST_CASE("a table takes all that it asks for, or nothing") {
  arena_tables all{4, block_tokens, true};
  CHECK_FALSE(all.open(text_of(1, 65), whole, 0));
  CHECK_FALSE(all.open(text_of(1, 40), whole, 2)); // as many must stay
  auto one = all.open(text_of(1, 40), whole, 1);
  REQUIRE(one);
  CHECK(all.grow(one->id, 64));
  CHECK_FALSE(all.grow(one->id, 65));
  CHECK(all.blocks_of(one->id).size() == 4);
  all.close(one->id);
  CHECK(all.available() == 4);
}

} // namespace
} // namespace perigee::test
