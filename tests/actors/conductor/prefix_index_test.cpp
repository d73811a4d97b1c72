#include "actors/conductor/prefix_index.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <set>

namespace perigee::conductor {
namespace {

constexpr node_index n0{0}, n1{1}, n2{2}, n3{3};
constexpr block_key a{1, 1}, b{2, 2}, c{3, 3}, d{4, 4};

using chain = std::vector<block_key>;
using runs = std::vector<run>;

SCENARIO("a prefix is found with every shard that holds its front") {
  GIVEN("three shards that hold more and less of one chain") {
    prefix_index index{100};
    index.store(n2, tier::dram, chain{a, b, c});
    index.store(n0, tier::dram, chain{a});
    index.store(n1, tier::dram, chain{a, b});
    THEN("each has its own run, in the order of shards") {
      CHECK(index.runs(chain{a, b, c, d}) == runs{{n0, 1, 0}, {n1, 2, 0}, {n2, 3, 0}});
    }
    THEN("no run is longer than what is asked for") {
      CHECK(index.runs(chain{a, b}) == runs{{n0, 1, 0}, {n1, 2, 0}, {n2, 2, 0}});
    }
    THEN("a chain that nobody has begun has none") {
      CHECK(index.runs(chain{d, a, b}).empty());
      CHECK(index.runs({}).empty());
    }
    WHEN("a shard lacks the first block") {
      index.store(n3, tier::dram, chain{b, c, d});
      THEN("what it holds further on is of no use") {
        CHECK(index.runs(chain{a, b, c, d}).size() == 3);
      }
    }
    WHEN("the longest holder evicts a block in the middle") {
      index.evict(n2, chain{b});
      THEN("its run ends there") {
        CHECK(index.runs(chain{a, b, c}) == runs{{n0, 1, 0}, {n1, 2, 0}, {n2, 1, 0}});
      }
    }
    WHEN("every holder of a block evicts it") {
      index.evict(n1, chain{b});
      index.evict(n2, chain{b});
      THEN("the key takes no room") {
        CHECK(index.size() == 2);
      }
    }
  }
}

SCENARIO("an index knows what lies on disk") {
  GIVEN("a chain of which a part fell to the SSD") {
    prefix_index index{100};
    index.store(n0, tier::dram, chain{a, b, c});
    index.store(n0, tier::ssd, chain{b, c});
    THEN("the run says how many blocks must be read from there") {
      CHECK(index.runs(chain{a, b, c}) == runs{{n0, 3, 2}});
    }
    WHEN("a block climbs again") {
      index.store(n0, tier::dram, chain{c});
      THEN("it counts as memory's") {
        CHECK(index.runs(chain{a, b, c}) == runs{{n0, 3, 1}});
      }
    }
    THEN("a block in another tier is still one block") {
      CHECK(index.held_by(n0) == 3);
    }
  }
}

SCENARIO("an index that is full takes no new key, and goes on") {
  GIVEN("an index with room for two keys, which are there") {
    prefix_index index{2};
    CHECK(index.store(n0, tier::dram, chain{a, b}) == 2);
    WHEN("more are stored") {
      THEN("they are turned away, and the known ones gain a holder") {
        CHECK(index.store(n1, tier::dram, chain{a, c}) == 1);
        CHECK(index.size() == 2);
        CHECK(index.runs(chain{a, b, c}) == runs{{n0, 2, 0}, {n1, 1, 0}});
      }
    }
  }
}

SCENARIO("what a lost shard held is forgotten at once, and tidied up later") {
  GIVEN("two shards that share a block") {
    prefix_index index{1000};
    index.store(n0, tier::dram, chain{a, b, c});
    index.store(n1, tier::dram, chain{a});
    WHEN("one is forgotten") {
      CHECK(index.forget(n0) == 3);
      THEN("it is in no answer any more") {
        CHECK(index.runs(chain{a, b}) == runs{{n1, 1, 0}});
        CHECK(index.held_by(n0) == 0);
      }
      THEN("forgetting it again finds nothing") {
        CHECK(index.forget(n0) == 0);
      }
      AND_WHEN("it is back, with less") {
        index.store(n0, tier::dram, chain{a});
        THEN("nothing of before counts") {
          CHECK(index.runs(chain{a, b}) == runs{{n0, 1, 0}, {n1, 1, 0}});
        }
      }
      AND_WHEN("the index is tidied to the end") {
        while (!index.tidy(2)) {
        }
        THEN("only what is held takes room") {
          CHECK(index.size() == 1);
        }
      }
    }
  }
}

// The model: what each shard holds, as a plain set.
SCENARIO("an index says what its shards would say, whatever they do") {
  GIVEN("an index, and the sets it stands for") {
    std::mt19937_64 random{static_cast<std::uint64_t>(GENERATE(range(1, 21)))};
    prefix_index index{1 << 16};
    std::map<node_index, std::set<block_key>> held;
    chain keys;
    for (std::uint64_t i = 0; i < 12; ++i)
      keys.push_back({i, i * 7});
    WHEN("shards store, evict, and are lost at random") {
      for (int i = 0; i < 2000; ++i) {
        node_index shard{static_cast<std::uint32_t>(random() % 5)};
        auto first = random() % keys.size(), count = random() % 5;
        std::span piece{keys};
        piece = piece.subspan(first, std::min(count, keys.size() - first));
        switch (random() % 8) {
          case 0:
            index.forget(shard);
            held[shard].clear();
            break;
          case 1:
          case 2:
            index.evict(shard, piece);
            for (auto key : piece)
              held[shard].erase(key);
            break;
          case 3: index.tidy(random() % 4); break;
          default:
            index.store(shard, tier::dram, piece);
            held[shard].insert(piece.begin(), piece.end());
        }
      }
      THEN("every run and every count is right") {
        runs expected;
        for (const auto& [shard, set] : held) {
          std::uint32_t length = 0;
          while (length < keys.size() && set.contains(keys[length]))
            ++length;
          if (length > 0)
            expected.push_back({shard, length, 0});
          CHECK(index.held_by(shard) == set.size());
        }
        CHECK(index.runs(keys) == expected);
        while (!index.tidy(8)) {
        }
        std::set<block_key> all;
        for (const auto& [shard, set] : held)
          all.insert(set.begin(), set.end());
        CHECK(index.size() == all.size());
      }
    }
  }
}

SCENARIO("a shard that comes and goes for ever takes no room for ever") {
  GIVEN("an index that nobody tidies") {
    prefix_index index{16};
    WHEN("a shard is forgotten more often than there are tenures to give") {
      constexpr auto often = std::uint32_t{1} << 12;
      for (std::uint32_t i = 0; i < often; ++i) {
        index.store(node_index{i % 7}, tier::dram, chain{{i, i}, a});
        index.forget(node_index{i % 7});
      }
      THEN("it still finds what is stored now") {
        while (!index.tidy(16)) {
        }
        CHECK(index.size() == 0);
        index.store(n0, tier::dram, chain{a});
        CHECK(index.runs(chain{a}) == runs{{n0, 1, 0}});
      }
    }
  }
}

} // namespace
} // namespace perigee::conductor
