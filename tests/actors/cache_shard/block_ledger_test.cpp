#include "actors/cache_shard/block_ledger.hpp"

#include <catch2/catch.hpp>

namespace perigee::shard {
namespace {

constexpr block_key root{9, 9}, a{1, 1}, b{1, 2}, c{1, 3}, x{2, 1}, y{2, 2};
constexpr owner_id ann{1}, bob{2}, eve{3};

using blocks = std::vector<block_number>;

block_ledger ledger(std::uint32_t size) {
  return {size, make_eviction_policy("lru")};
}

chain_piece piece(const block_chain& keys, std::uint32_t depth = 0,
                  block_key parent = root) {
  return {parent, depth, keys};
}

blocks blocks_of(const block_ledger::reservation& got) {
  blocks all;
  for (auto [index, block] : got.items)
    all.push_back(block);
  return all;
}

/// Reserves and seals.
block_ledger::reservation store(block_ledger& all, const block_chain& keys,
                                std::uint32_t depth = 0, block_key parent = root,
                                owner_id owner = ann) {
  auto got = all.reserve(owner, piece(keys, depth, parent));
  for (auto block : blocks_of(got))
    CHECK(all.seal(block, owner));
  return got;
}

std::size_t run_of(block_ledger& all, const block_chain& chain) {
  auto lease = all.lend(chain);
  if (!lease)
    return 0;
  CHECK(all.release(lease->id));
  return lease->blocks.size();
}

SCENARIO("a block goes from free to writing to sealed") {
  GIVEN("an arena of four blocks") {
    auto all = ledger(4);
    CHECK(all.counts() == block_counts{.free = 4});
    WHEN("a chain of two is reserved") {
      auto got = all.reserve(ann, piece({a, b}));
      REQUIRE(got.items.size() == 2);
      THEN("they are being written, and cannot be found") {
        CHECK(all.counts() == block_counts{.free = 2, .writing = 2});
        CHECK_FALSE(all.contains(a));
        CHECK_FALSE(all.lend(block_chain{a, b}));
      }
      AND_WHEN("their writer seals them") {
        for (auto block : blocks_of(got))
          CHECK(all.seal(block, ann).value() == sealing::stored);
        THEN("they can be leased, in the chain's order") {
          auto lease = all.lend(block_chain{a, b, c});
          REQUIRE(lease);
          CHECK(lease->blocks == blocks_of(got));
          CHECK(all.counts() == block_counts{.free = 2, .sealed = 2, .leased = 2});
          CHECK(all.release(lease->id));
          CHECK_FALSE(all.release(lease->id));
          CHECK(all.counts() == block_counts{.free = 2, .sealed = 2});
        }
      }
      AND_WHEN("their writer gives up") {
        for (auto block : blocks_of(got))
          CHECK(all.free(block, ann));
        THEN("they are free, and whoever computes them may store them") {
          CHECK(all.counts() == block_counts{.free = 4});
          CHECK(store(all, {a, b}).items.size() == 2);
        }
      }
    }
  }
}

SCENARIO("nobody seals or frees what is not his") {
  GIVEN("a block that Ann writes") {
    auto all = ledger(2);
    auto block = all.reserve(ann, piece({a})).items.front().block;
    THEN("Bob cannot seal or free it, nor anybody a block that is not there") {
      CHECK(all.seal(block, bob).error() == ledger_fault::not_yours);
      CHECK(all.free(block, bob).error() == ledger_fault::not_yours);
      CHECK(all.seal(7, ann).error() == ledger_fault::not_yours);
      CHECK(all.free(0xffffffff, ann).error() == ledger_fault::not_yours);
    }
    WHEN("she has sealed it") {
      REQUIRE(all.seal(block, ann));
      THEN("it is hers no longer") {
        CHECK(all.seal(block, ann).error() == ledger_fault::not_yours);
        CHECK(all.free(block, ann).error() == ledger_fault::not_yours);
      }
    }
    WHEN("she has freed it") {
      REQUIRE(all.free(block, ann));
      THEN("she cannot free it again") {
        CHECK(all.free(block, ann).error() == ledger_fault::not_yours);
      }
    }
  }
}

SCENARIO("private blocks are kept for their owner, and never found") {
  GIVEN("an arena with a cached chain") {
    auto all = ledger(4);
    store(all, {a, b});
    WHEN("Bob parks three blocks") {
      auto got = all.reserve(bob, 3);
      REQUIRE(got.items.size() == 3);
      CHECK(got.items[2].index == 2);
      CHECK(got.evicted == block_chain{b});
      for (auto block : blocks_of(got))
        CHECK(all.seal(block, bob).value() == sealing::kept);
      THEN("no one can evict them") {
        CHECK(all.counts() == block_counts{.sealed = 1, .kept = 3});
        CHECK(all.reserve(ann, 2).items.empty());
        CHECK(all.contains(a)); // none was evicted in vain
      }
      THEN("he frees them when he needs them no more") {
        for (auto block : blocks_of(got))
          CHECK(all.free(block, bob));
        CHECK(all.counts() == block_counts{.free = 3, .sealed = 1});
      }
    }
    WHEN("more is asked for than there is") {
      THEN("none is given") {
        auto got = all.reserve(bob, 5);
        CHECK(got.items.empty());
        CHECK(got.ran_out);
        CHECK(all.counts() == block_counts{.free = 2, .sealed = 2});
      }
    }
  }
}

SCENARIO("what is here already is not written again") {
  GIVEN("an arena that has the first of a chain") {
    auto all = ledger(8);
    store(all, {a});
    WHEN("the chain is reserved") {
      auto got = all.reserve(ann, piece({a, b, c}));
      THEN("only what is missing is to be written") {
        REQUIRE(got.items.size() == 2);
        CHECK_FALSE(got.ran_out);
        CHECK(got.items[0].index == 1);
        CHECK(got.items[1].index == 2);
      }
    }
  }
  GIVEN("two who compute the same block") {
    auto all = ledger(8);
    auto first = all.reserve(ann, piece({a})).items.front().block;
    auto second = all.reserve(bob, piece({a})).items.front().block;
    THEN("a third is not let write it") {
      CHECK(all.reserve(eve, piece({a})).items.empty());
    }
    WHEN("both seal") {
      CHECK(all.seal(second, bob).value() == sealing::stored);
      CHECK(all.seal(first, ann).value() == sealing::duplicate);
      THEN("the older one stays, and the other is free") {
        CHECK(all.lend(block_chain{a})->blocks == blocks{second});
        CHECK(all.counts() == block_counts{.free = 7, .sealed = 1, .leased = 1});
      }
    }
  }
}

SCENARIO("what was not used for longest goes first") {
  GIVEN("a full arena of two chains, of which the older was used last") {
    auto all = ledger(4);
    store(all, {a, b});
    store(all, {x, y});
    CHECK(run_of(all, {a, b}) == 2);
    WHEN("room is needed block by block") {
      block_chain gone;
      for (int i = 0; i < 4; ++i)
        for (auto key : all.reserve(ann, 1).evicted)
          gone.push_back(key);
      THEN("the other chain goes first, and each from its tail") {
        CHECK(gone == block_chain{y, x, b, a});
      }
    }
  }
}

SCENARIO("a chain's head outlives its tail, even if it was stored long before") {
  GIVEN("a chain whose parts were stored one by one, and another between") {
    auto all = ledger(4);
    store(all, {a});
    store(all, {x});
    store(all, {b}, 1, a);
    store(all, {c}, 2, b);
    WHEN("room is needed") {
      auto got = all.reserve(bob, 3);
      THEN("no block goes before one that follows it") {
        CHECK(got.evicted == block_chain{x, c, b});
      }
    }
  }
}

SCENARIO("a leased or writing block is never evicted") {
  GIVEN("a full arena: one leased, one being written, one neither") {
    auto all = ledger(3);
    store(all, {a});
    auto lease = all.lend(block_chain{a});
    store(all, {x});
    auto writing = all.reserve(eve, piece({y})).items.front().block;
    WHEN("two are asked for") {
      THEN("none is given, and nothing evicted") {
        CHECK(all.reserve(bob, 2).items.empty());
        CHECK(all.contains(x));
      }
    }
    WHEN("one is asked for") {
      auto got = all.reserve(bob, 1);
      THEN("it is the one that nobody needs") {
        CHECK(got.evicted == block_chain{x});
        CHECK(got.items.front().block != lease->blocks.front());
        CHECK(got.items.front().block != writing);
      }
    }
    WHEN("the lease is returned") {
      CHECK(all.release(lease->id));
      THEN("two can be had") {
        CHECK(all.reserve(bob, 2).items.size() == 2);
      }
    }
  }
}

SCENARIO("a chain does not make room for its own tail") {
  GIVEN("a full arena with the front of a chain and nothing else") {
    auto all = ledger(2);
    store(all, {a, b});
    THEN("what follows it finds no room") {
      auto got = all.reserve(ann, piece({c}, 2, b));
      CHECK(got.items.empty());
      CHECK(got.ran_out);
      CHECK(all.reserve(ann, piece({a, b, c})).items.empty());
      CHECK(run_of(all, {a, b}) == 2);
    }
  }
  GIVEN("a nearly full arena") {
    auto all = ledger(3);
    store(all, {x});
    store(all, {a});
    THEN("the front is stored, as far as there is room") {
      auto got = all.reserve(ann, piece({a, b, c, y}));
      CHECK(got.items.size() == 2);
      CHECK(got.evicted == block_chain{x});
    }
  }
}

SCENARIO("a lease is a run: each block follows the one before") {
  GIVEN("two chains, and one with a hole") {
    auto all = ledger(8);
    store(all, {a, b});
    store(all, {x});
    store(all, {c}, 2, b);
    THEN("blocks of another chain end a run") {
      CHECK(run_of(all, {a, b, c}) == 3);
      CHECK(run_of(all, {a, x}) == 1);
      CHECK(run_of(all, {a, c}) == 1);
      CHECK(run_of(all, {y, a}) == 0);
      CHECK(run_of(all, {}) == 0);
    }
  }
  GIVEN("a lease from the middle of a chain, as no one should ask for") {
    auto all = ledger(3);
    store(all, {a, b});
    REQUIRE(all.lend(block_chain{b}));
    WHEN("more is needed than can be had") {
      auto got = all.reserve(bob, 2);
      THEN("none is given, and all is as it was") {
        CHECK(got.items.empty());
        CHECK(got.evicted.empty());
        CHECK(all.counts() == block_counts{.free = 1, .sealed = 2, .leased = 1});
      }
    }
  }
}

TEST_CASE("an eviction policy is known by its name") {
  for (auto name : eviction_policy_names())
    CHECK(make_eviction_policy(name));
  CHECK_FALSE(make_eviction_policy("lru "));
}

SCENARIO("a block that gets its key when it is written is read on by its owner") {
  GIVEN("two who write blocks without keys") {
    auto all = ledger(4);
    auto mine = blocks_of(all.reserve(ann, 2));
    auto theirs = blocks_of(all.reserve(bob, 1));
    auto lease = all.open_lease();
    CHECK_FALSE(all.contains(a));
    WHEN("one of them says what it wrote") {
      CHECK(all.seal_into(lease, mine[0], ann, piece({a})).value() == sealing::stored);
      CHECK(all.seal_into(lease, mine[1], ann, piece({b}, 1, a)).value()
            == sealing::stored);
      THEN("it is found, and stays as long as the lease") {
        CHECK(all.counts()
              == block_counts{.free = 1, .writing = 1, .sealed = 2, .leased = 2});
        CHECK(run_of(all, {a, b, c}) == 2);
        CHECK(all.reserve(eve, 2).ran_out);
        CHECK(all.release(lease));
        CHECK(all.reserve(eve, 2).evicted == block_chain{b});
      }
      THEN("what the other wrote of the same stays the other's") {
        auto other = all.open_lease();
        CHECK(all.seal_into(other, theirs[0], bob, piece({a})).value()
              == sealing::duplicate);
        CHECK(all.free(theirs[0], bob));
        CHECK(all.release(other));
      }
    }
    WHEN("it isn't his, or there is no such lease") {
      THEN("nothing happens") {
        auto before = all.counts();
        CHECK_FALSE(all.seal_into(lease, theirs[0], ann, piece({a})));
        CHECK_FALSE(all.seal_into(lease, 9, ann, piece({a})));
        CHECK(all.release(lease));
        CHECK_FALSE(all.seal_into(lease, mine[0], ann, piece({a})));
        CHECK(all.counts() == before);
      }
    }
  }
}

} // namespace
} // namespace perigee::shard
