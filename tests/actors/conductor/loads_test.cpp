#include "actors/conductor/loads.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace perigee::conductor {
namespace {

using namespace std::chrono_literals;

constexpr request_id r1{1}, r2{2};

decode_line some_line() {
  return {.kv_tokens = 4000,
          .began = {2s, 4s, 6s, 8s},
          .coming = {{11s, r1, 500}, {14s, r2, 700}},
          .blocks_free = {}};
}

SCENARIO("a batch is predicted as the paper does: everybody decodes for as long") {
  GIVEN("four that decode, two that are to come, and a decode time of ten seconds") {
    auto line = some_line();
    auto at = [&](moment when) { return batch_at(line, 10s, when, 10s); };
    THEN("now there are the four") {
      CHECK(at(10s) == batch{4, 4000});
    }
    THEN("one that comes counts from when it is there") {
      CHECK(at(11s) == batch{5, 4500});
    }
    THEN("one that has had its time does not") {
      CHECK(at(12s) == batch{3 + 1, 3000 + 500});
      CHECK(at(14s) == batch{2 + 2, 2000 + 1200});
    }
    THEN("one that came and went is not there") {
      CHECK(at(21s) == batch{1, 700});
      CHECK(at(24s) == batch{0, 0});
    }
  }
  GIVEN("one that decodes for longer than anybody should") {
    decode_line line{.kv_tokens = 100, .began = {1s}, .coming = {}, .blocks_free = {}};
    THEN("it is there now, and is not believed to stay") {
      CHECK(batch_at(line, 60s, 60s, 10s) == batch{1, 100});
      CHECK(batch_at(line, 60s, 61s, 10s) == batch{0, 0});
    }
  }
  GIVEN("one that should have come long ago") {
    decode_line line{
      .kv_tokens = 0, .began = {}, .coming = {{1s, r1, 100}}, .blocks_free = {}};
    THEN("it is thought to come now") {
      CHECK(batch_at(line, 60s, 60s, 10s) == batch{1, 100});
      CHECK(batch_at(line, 60s, 69s, 10s) == batch{1, 100});
      CHECK(batch_at(line, 60s, 70s, 10s) == batch{0, 0});
    }
  }
}

SCENARIO("a pool's load is the mean of its instances', as a share of the objective") {
  GIVEN("two groups and two instances") {
    loads all;
    all.decode_time = 10s;
    all.prefills[{node_index{0}, 0}] = {.free_at = 16s, .waiting = 3};
    all.prefills[{node_index{1}, 0}] = {.free_at = 4s, .waiting = 0};
    all.decodes[{node_index{2}, 0}] = some_line();
    all.decodes[{node_index{3}, 0}] = {};
    decode_cost cost{10e6, 10e6, 0};
    THEN("a queue counts by the time it will still take") {
      CHECK(prefill_load(all, 10s, 30s) == Approx(0.1));
      CHECK(prefill_load(all, 13s, 30s) == Approx(0.05));
      CHECK(prefill_load(all, 20s, 30s) == 0);
    }
    THEN("a batch counts by the length of its step") {
      CHECK(decode_load(all, cost, 10s, 10s, 100ms) == Approx(0.25));
      CHECK(decode_load(all, cost, 10s, 11s, 100ms) == Approx(0.3));
    }
    THEN("what a newcomer could get is the best that any of them has") {
      CHECK(shortest_queue(all, 10s) == 0s);
      all.prefills[{node_index{1}, 0}].free_at = 12s;
      CHECK(shortest_queue(all, 10s) == 2s);
      CHECK(shortest_step(all, cost, 10s, 10s) == 0ms);
      all.decodes.erase({node_index{3}, 0});
      CHECK(shortest_step(all, cost, 10s, 11s) == 60ms);
    }
    THEN("relief comes when enough have had their time somewhere") {
      CHECK(decode_relief(all, cost, 10s, 100ms, 0.2) < 12s);
      all.decodes[{node_index{3}, 0}] = some_line();
      auto at = decode_relief(all, cost, 10s, 100ms, 0.35);
      CHECK(at > 12s);
      CHECK(shortest_step(all, cost, 10s, at) <= 35ms);
      CHECK(decode_relief(all, cost, 10s, 100ms, 0.0) == 20s);
    }
  }
  GIVEN("nobody") {
    loads none;
    THEN("the load has no bound") {
      CHECK(prefill_load(none, 0s, 1s) == std::numeric_limits<double>::infinity());
      CHECK(decode_load(none, {}, 0s, 0s, 1s)
            == std::numeric_limits<double>::infinity());
    }
  }
}

} // namespace
} // namespace perigee::conductor
