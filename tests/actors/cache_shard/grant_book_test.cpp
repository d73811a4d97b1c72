#include "actors/cache_shard/grant_book.hpp"

#include <catch2/catch.hpp>

namespace perigee::shard {
namespace {

constexpr rt::actor_tag writer{7}, other{8};
constexpr block_key root{9, 9}, a{1, 1}, b{2, 2};

/// A ledger of four blocks, and who was given some of them.
struct arena {
  void grant_keys(grant_book::id mine, rt::actor_tag whom, const block_chain& keys) {
    grants.open(mine, whom, ledger.reserve(owner_id{mine}, {root, 0, keys}));
  }

  void grant_private(grant_book::id mine, rt::actor_tag whom, std::size_t blocks) {
    grants.open(mine, whom, ledger.reserve(owner_id{mine}, blocks));
  }

  block_ledger ledger{4, make_eviction_policy("lru")};
  grant_book grants{ledger};
};

TEST_CASE("a grant is its writer's until it is sealed") {
  arena here;
  here.grant_keys(1, writer, {a, b});
  CHECK(here.grants.is_writing(1, writer));
  CHECK_FALSE(here.grants.is_writing(1, other));
  CHECK_FALSE(here.grants.is_keeping(1, writer));
  CHECK_FALSE(here.grants.is_writing(2, writer));
  CHECK(here.grants.blocks_of(1) == 2);
  CHECK(here.grants.seal(1).stored == block_chain{a, b});
  CHECK_FALSE(here.grants.is_writing(1, writer));
  CHECK(here.grants.size() == 0);
  CHECK(here.ledger.counts().sealed == 2);
}

TEST_CASE("what two wrote is stored once") {
  arena here;
  here.grant_keys(1, writer, {a});
  here.grant_keys(2, other, {a});
  CHECK(here.grants.seal(2).duplicates == 0);
  auto late = here.grants.seal(1);
  CHECK(late.stored.empty());
  CHECK(late.duplicates == 1);
  CHECK(here.ledger.counts().free == 3);
}

TEST_CASE("private blocks are kept by who wrote them until that ends") {
  arena here;
  here.grant_private(1, writer, 3);
  CHECK_FALSE(here.grants.is_keeping(1, writer));
  CHECK(here.grants.seal(1).stored.empty());
  CHECK(here.grants.is_keeping(1, writer));
  CHECK_FALSE(here.grants.is_keeping(1, other));
  CHECK_FALSE(here.grants.is_writing(1, writer));
  CHECK(here.ledger.counts().kept == 3);
  here.grants.end(1);
  CHECK(here.ledger.counts().free == 4);
  CHECK(here.grants.size() == 0);
}

TEST_CASE("all that is a writer's ends together, and nothing of others") {
  arena here;
  here.grant_keys(1, writer, {a});
  here.grant_keys(2, other, {b});
  here.grant_private(3, writer, 1);
  here.grants.seal(3);
  CHECK(here.grants.count_of(writer) == 2);
  CHECK(here.grants.end_all_of(writer) == std::vector<grant_book::id>{1, 3});
  CHECK(here.grants.count_of(writer) == 0);
  CHECK(here.grants.is_writing(2, other));
  CHECK(here.ledger.counts().free == 3);
}

} // namespace
} // namespace perigee::shard
