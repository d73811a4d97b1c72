#include "tests/actors/conductor/placement_cluster.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

namespace perigee::conductor {
namespace {

using namespace test;

SCENARIO("Algorithm 1 weighs reuse against waiting") {
  GIVEN("a cluster where one group's node holds most of the prompt") {
    cluster some;
    some.runs = {{n1, 80, 0}};
    WHEN("nobody waits") {
      auto made = some.place("kvcache_centric").value();
      THEN("the request goes there, and computes the rest") {
        CHECK(made.prefill == g1);
        CHECK(made.reuse_blocks == 80);
        CHECK(made.source == n1);
        CHECK(made.fetch == 0ns);
        CHECK(made.prefill_time == 200ms);
        CHECK(made.ttft() == 200ms);
      }
    }
    WHEN("the holder has a long queue") {
      some.all.prefills[g1].free_at = some.now + 10s;
      auto made = some.place("kvcache_centric").value();
      THEN("another one fetches what it holds: so a hot prefix spreads") {
        CHECK(made.prefill == g0);
        CHECK(made.reuse_blocks == 80);
        CHECK(made.source == n1);
        CHECK(made.fetch == 800us);
        CHECK(made.queue == 0ns);
        CHECK(made.ttft() == 200ms + 800us);
      }
    }
    WHEN("the link is slower than computing") {
      some.all.prefills[g1].free_at = some.now + 10ms;
      THEN("a short queue is better than a fetch") {
        auto slow = simple;
        slow.link.bytes_per_s = 1e4; // 800 tokens: 80 ms
        scene here{some.now, some.all, some.runs, slow};
        auto made = make_placement("kvcache_centric", {})->choose(some.one, here);
        CHECK(made->prefill == g1);
        CHECK(made->queue == 10ms);
      }
    }
  }
}

SCENARIO("the balancing threshold is a ratio of lengths") {
  GIVEN("a local run of 20 blocks, a remote one of 80, and all other groups away") {
    cluster some;
    some.all.prefills = {{g0, {}}};
    some.runs = {{n0, 20, 0}, {n3, 80, 0}};
    THEN("four times as long is not longer by more than a factor of four") {
      auto made
        = some.place("kvcache_centric", {.kvcache_balancing_threshold = 4}).value();
      CHECK(made.source == n0);
      CHECK(made.reuse_blocks == 20);
      CHECK(made.fetch == 0ns);
      CHECK(made.prefill_time == 800ms);
    }
    THEN("it is by a factor of three, and what is missing is fetched") {
      auto made
        = some.place("kvcache_centric", {.kvcache_balancing_threshold = 3}).value();
      CHECK(made.source == n3);
      CHECK(made.reuse_blocks == 80);
      CHECK(made.fetch == 600us);
      CHECK(made.prefill_time == 200ms);
    }
  }
  GIVEN("a group whose node holds nothing") {
    cluster some;
    some.all.prefills = {{g0, {}}};
    some.runs = {{n3, 1, 0}};
    THEN("whatever another one holds is longer") {
      auto made
        = some.place("kvcache_centric", {.kvcache_balancing_threshold = 1e6}).value();
      CHECK(made.source == n3);
      CHECK(made.reuse_blocks == 1);
    }
  }
  GIVEN("nothing anywhere") {
    cluster some;
    THEN("all is computed") {
      auto made = some.place("kvcache_centric").value();
      CHECK(made.reuse_blocks == 0);
      CHECK(made.prefill_time == 1s);
    }
  }
}

SCENARIO("the last token of a prompt is always computed") {
  GIVEN("a prompt of whole blocks that is cached to its end") {
    cluster some;
    some.runs = {{n0, 100, 0}};
    THEN("its last block is not reused") {
      auto made = some.place("kvcache_centric").value();
      CHECK(made.reuse_blocks == 99);
      CHECK(made.prefill_time == 10ms);
    }
    WHEN("it has one token more") {
      some.one.prompt_tokens = 1001;
      THEN("every block is") {
        CHECK(some.place("kvcache_centric")->reuse_blocks == 100);
      }
    }
  }
}

SCENARIO("what lies on a disk takes longer") {
  GIVEN("two nodes that hold a prompt, one of them on its SSD") {
    cluster some;
    some.runs = {{n0, 80, 80}, {n1, 80, 0}};
    THEN("memory is better") {
      CHECK(some.place("kvcache_centric")->prefill == g1);
    }
    WHEN("the one with memory has a queue") {
      some.all.prefills[g1].free_at = some.now + 1s;
      some.all.prefills.erase(g2);
      THEN("reading from the disk is part of the prediction") {
        auto made = some.place("kvcache_centric").value();
        CHECK(made.prefill == g0);
        CHECK(made.fetch == 8ms);
      }
    }
  }
}

SCENARIO("the simpler placements see less") {
  GIVEN("a cached prompt at a busy group, and idle ones") {
    cluster some;
    some.runs = {{n1, 80, 0}};
    some.all.prefills[g1].free_at = some.now + 100ms;
    some.all.prefills[g0].free_at = some.now + 50ms;
    THEN("load balance takes the shortest queue") {
      auto made = some.place("load_balance").value();
      CHECK(made.prefill == g2);
      CHECK(made.reuse_blocks == 0);
    }
    THEN("cache aware takes the least local TTFT, and fetches nothing") {
      auto made = some.place("cache_aware").value();
      CHECK(made.prefill == g1);
      CHECK(made.reuse_blocks == 80);
      some.all.prefills[g1].free_at = some.now + 10s;
      made = some.place("cache_aware").value();
      CHECK(made.prefill == g2);
      CHECK(made.reuse_blocks == 0);
    }
    THEN("round robin takes turns") {
      auto policy = make_placement("round_robin", {});
      for (auto expected : {g0, g1, g2, g0})
        CHECK(policy->choose(some.one, some.here())->prefill == expected);
      for (auto expected : {d0, d1, d0, d1})
        CHECK(policy->choose(some.one, some.here())->decode == expected);
    }
    THEN("random is as random as its seed, and takes everybody") {
      auto policy = make_placement("random", {.seed = 7});
      auto same = make_placement("random", {.seed = 7});
      std::set<group_id> seen;
      for (int i = 0; i < 50; ++i) {
        auto made = policy->choose(some.one, some.here());
        CHECK(made == same->choose(some.one, some.here()));
        seen.insert(made->prefill);
      }
      CHECK(seen.size() == 3);
    }
  }
}

SCENARIO("a decode instance is chosen by the batch that the request will find") {
  GIVEN("one instance with a batch that will be over, one that waits for more") {
    cluster some;
    some.all.prefills = {{g0, {.free_at = some.now + 2s, .waiting = 1}}};
    auto old = some.now - 9s; // a decode takes ten seconds
    some.all.decodes[d0].began.assign(8, old);
    some.all.decodes[d1].coming
      = {{some.now + 1s, request_id{1}, 10}, {some.now + 1s, request_id{2}, 10}};
    THEN("it goes where fewer are left when it comes") {
      auto made = some.place("kvcache_centric").value();
      CHECK(made.decode == d0);
      CHECK(made.tbt == 11ms);
    }
    WHEN("prefill takes no time") {
      some.all.prefills = {{g0, {}}};
      some.one.prompt_tokens = 1;
      THEN("it goes where fewer are now") {
        CHECK(some.place("kvcache_centric")->decode == d1);
      }
    }
  }
  GIVEN("an idle instance without room, and a busy one with") {
    cluster some;
    some.all.decodes[d0].blocks_free = 99;
    some.all.decodes[d1].blocks_free = 100;
    some.all.decodes[d1].began = {some.now};
    THEN("room comes first") {
      CHECK(some.place("kvcache_centric")->decode == d1);
    }
    WHEN("what is on its way will fill it") {
      some.all.decodes[d1].coming = {{some.now, request_id{1}, 500}};
      THEN("neither has room, and the faster one is taken") {
        CHECK(some.place("kvcache_centric")->decode == d0);
      }
    }
  }
}

SCENARIO("a plan that breaks an objective is named, with its figures") {
  GIVEN("a plan with a queue and a batch") {
    cluster some;
    some.all.prefills = {{g0, {.free_at = some.now + 1500ms, .waiting = 1}}};
    some.all.decodes = {{d0, {}}};
    auto find = [&](objectives wanted = {}) {
      return find_shortfall(*some.place("kvcache_centric"), some.one, some.here(),
                            wanted);
    };
    THEN("its first token is too late, by half a second") {
      auto why = find().value();
      CHECK(why.why == reason::prefill_load);
      CHECK(why.load == Approx(1.25));
      CHECK(why.retry_after == 500ms);
    }
    THEN("it is good enough for who asks for less") {
      CHECK_FALSE(find({.ttft = true, .tbt = tbt_check::at_arrival, .load_max = 1.3}));
      CHECK_FALSE(find({.ttft = false, .tbt = tbt_check::at_arrival, .load_max = 1}));
    }
    WHEN("the request alone takes longer than its client named") {
      some.one.ttft_limit = 900ms;
      some.one.names_ttft = true;
      THEN("asking again is of no use") {
        CHECK(find()->retry_after == 0ns);
      }
    }
    WHEN("the request alone takes longer than the cluster's objective") {
      some.one.ttft_limit = 900ms;
      THEN("its wait alone counts") {
        CHECK(find()->load == Approx(1500. / 900));
        CHECK(find()->retry_after == 600ms);
      }
      THEN("it is served if it need not wait") {
        some.all.prefills = {{g0, {}}};
        CHECK_FALSE(find());
      }
    }
    WHEN("the batch will be too large") {
      some.all.prefills = {{g0, {}}};
      some.all.decodes[d0].began.assign(10, some.now);
      auto why = find().value();
      THEN("tokens would be too far apart, until some have ended") {
        CHECK(why.why == reason::decode_load);
        CHECK(why.load == Approx(21. / 20));
        CHECK(why.retry_after > 0s);
        CHECK(why.retry_after <= 10s);
      }
      THEN("a request that does not decode does not mind") {
        some.one.decodes = false;
        CHECK_FALSE(find());
      }
      THEN("a baseline leaves that to the instance") {
        CHECK_FALSE(find({.ttft = true, .tbt = tbt_check::none, .load_max = 1}));
      }
    }
    WHEN("the batch is too large now, and will not be when the request is there") {
      some.all.prefills = {{g0, {}}};
      some.all.decodes[d0].began.assign(10, some.now - 9500ms);
      THEN("only who looks at the present finds fault") {
        CHECK_FALSE(find());
        auto why = find({.tbt = tbt_check::at_present}).value();
        CHECK(why.why == reason::decode_load);
        CHECK(why.load == Approx(21. / 20));
      }
    }
    WHEN("what is on its way will make the batch too large") {
      some.all.prefills = {{g0, {}}};
      some.all.decodes[d0].coming.assign(10, {some.now + 400ms, request_id{1}, 1});
      THEN("only who looks ahead finds fault") {
        CHECK(find()->why == reason::decode_load);
        CHECK_FALSE(find({.tbt = tbt_check::at_present}));
      }
    }
    WHEN("a batch of one would be too slow") {
      some.all.prefills = {{g0, {}}};
      some.one.tbt_limit = 5ms;
      THEN("asking again is of no use") {
        CHECK(find()->why == reason::decode_load);
        CHECK(find()->retry_after == 0ns);
      }
    }
  }
}

TEST_CASE("nobody is placed where nobody is") {
  for (auto name : placement_names()) {
    cluster some;
    some.all.prefills.clear();
    CHECK_FALSE(some.place(name));
    some = {};
    some.all.decodes.clear();
    CHECK_FALSE(some.place(name));
  }
}

TEST_CASE("every placement has a name, and no other has one") {
  for (auto name : placement_names())
    CHECK(make_placement(name, {}));
  CHECK_FALSE(make_placement("kvcache", {}));
  CHECK_FALSE(make_placement("", {}));
}

SCENARIO("a coupled group decodes what it prefills") {
  GIVEN("two coupled instances, of which one decodes") {
    cluster some;
    some.all.prefills = {{g0, {}}, {g1, {}}};
    some.all.decodes[d0].began = {some.now - 1s, some.now - 2s};
    auto place = [&](std::string_view name) {
      auto here = some.here();
      here.coupled = true;
      return make_placement(name, {.seed = 7})->choose(some.one, here);
    };
    THEN("whoever is chosen, it is for both") {
      for (auto name : placement_names()) {
        auto made = place(name).value();
        CHECK(made.decode == instance_id{made.prefill.node, made.prefill.index});
      }
    }
    WHEN("nobody waits anywhere") {
      THEN("the idle one is taken, by its time between tokens") {
        CHECK(place("load_balance").value().prefill == g1);
        CHECK(place("cache_aware").value().prefill == g1);
        CHECK(place("cache_aware").value().tbt == 11ms);
      }
    }
    WHEN("somebody waits at the idle one") {
      some.all.prefills[g1].free_at = some.now + 1ms;
      THEN("waiting counts first") {
        CHECK(place("load_balance").value().prefill == g0);
      }
    }
    WHEN("the busy one has most of the prompt") {
      some.runs = {{n0, 80, 0}};
      THEN("cache_aware goes there") {
        auto made = place("cache_aware").value();
        CHECK(made.prefill == g0);
        CHECK(made.reuse_blocks == 80);
        CHECK(place("load_balance").value().prefill == g1);
      }
    }
  }
}

} // namespace
} // namespace perigee::conductor
