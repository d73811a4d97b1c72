#include "tests/actors/transfer/two_nodes.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::transfer {
namespace {

TEST_CASE("two nodes have a line by the best that both have, and KV goes both ways") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  CHECK(all.first.count("lines_up") == 1);
  CHECK(all.second.count("lines_up") == 1);
  CHECK(all.best.connected == 1);
  CHECK(all.other.connected == 0);
  all.ask<schema::Push>(1, 1, 2);
  CHECK(all.fault_of(1) == MoveFault::NONE);
  CHECK(two_nodes::arrived(all.first.own, all.second.own));
}

TEST_CASE("a line is kept though its other end was quicker than the news of it") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.tell_member(all.second, all.first, true); // which dials
  all.tell_member(all.first, all.second, true);
  CHECK(all.best.connected == 1);
  CHECK(all.first.count("lines_up") == 1);
  CHECK(all.second.count("lines_lost_total") == 0);
  all.ask<schema::Push>(1, 1, 2);
  CHECK(all.fault_of(1) == MoveFault::NONE);
  CHECK(two_nodes::arrived(all.first.own, all.second.own));
}

TEST_CASE("who dials before it has a seat there dials again soon") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  transfer_name second{node_index{1}, 0};
  REQUIRE(all.bench.roster().vacate(second, {1, 1}));
  all.tell_member(all.second, all.first, true);
  CHECK(all.first.count("stale_total") == 1);
  all.bench.roster().seat(second, {all.second.actor, {1, 1}, all.second.tag});
  all.tell_member(all.first, all.second, true);
  all.bench.advance(200ms);
  CHECK(all.first.count("lines_up") == 1);
}

TEST_CASE("KV is fetched from another node") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  all.ask<schema::Fetch>(1, 2, 1);
  CHECK(all.fault_of(1) == MoveFault::NONE);
  CHECK(two_nodes::arrived(all.second.own, all.first.own));
}

TEST_CASE("a segment that comes later is shown when its owner is up") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  memory late{segment_id{7}, 50};
  REQUIRE(all.second.shared.segments->add(late.as_segment()));
  all.ask<schema::Push>(1, 1, 7);
  CHECK_FALSE(all.heard.contains(1)); // it may still come
  all.tell_member(all.second, all.second, true, schema::Role::DECODE);
  CHECK(all.fault_of(1) == MoveFault::NONE);
  CHECK(two_nodes::arrived(all.first.own, late));
}

TEST_CASE("a segment that never comes is not waited for longer than the limit") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.ask<schema::Push>(1, 1, 99);
  CHECK(all.fault_of(1) == MoveFault::GONE); // nobody is there who could have it
  all.meet();
  all.ask<schema::Push>(2, 1, 99);
  CHECK_FALSE(all.heard.contains(2));
  all.bench.advance(5s);
  CHECK(all.fault_of(2) == MoveFault::TIMED_OUT);
}

TEST_CASE("a line that fails is replaced by another way, and movements go on there") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  all.best.is_cut = true;
  all.best.holds = true;
  all.ask<schema::Push>(1, 1, 2);
  CHECK_FALSE(all.heard.contains(1));
  all.best.fail();
  all.bench.advance(5s);
  CHECK(all.other.connected == 1);
  CHECK(all.fault_of(1) == MoveFault::NONE);
  CHECK(two_nodes::arrived(all.first.own, all.second.own));
  CHECK(all.first.count("moved_again_total") == 1);
  CHECK(all.first.count("lines_lost_total") >= 1);
}

TEST_CASE("what is laid down is taken though there is better, and nothing else is") {
  FOR_EVERY_SEED(seed);
  const transport::rates out{100, 200}, back{200, 100};
  two_nodes all{seed, {{"m1", "other", out}, {"m0", "other", back}}};
  all.meet();
  CHECK(all.best.connected == 0);
  CHECK(all.other.connected == 1);
  std::size_t outwards = 0, backwards = 0; // whose end is first is up to the seed
  for (const auto* one : all.other.ends)
    for (const auto& [who, told] : one->rates_told()) {
      outwards += told == out;
      backwards += told == back;
    }
  CHECK(outwards > 0);
  CHECK(backwards > 0);
  auto up = all.first.counts->census().lines();
  REQUIRE(up.contains("m1"));
  CHECK(up.at("m1").transport == "other");
  CHECK(up.at("m1").why == "laid_down");
  all.other.fail();
  all.bench.settle();
  CHECK(all.first.counts->census().lines().empty());
  all.bench.advance(5s);
  CHECK(all.best.connected == 0);
  CHECK(all.other.connected == 2);
  all.ask<schema::Push>(1, 1, 2);
  CHECK(all.fault_of(1) == MoveFault::NONE);
  CHECK(all.first.counts->census().bytes_moved().at("other")
        == 2 * small.block_bytes());
}

TEST_CASE("without the transport that is laid down there is no line") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed, {{"m1", "third", {}}, {"m0", "third", {}}}};
  all.meet();
  CHECK(all.best.connected + all.other.connected == 0);
  all.ask<schema::Push>(1, 1, 2);
  all.bench.advance(5s);
  CHECK(all.fault_of(1) == MoveFault::TIMED_OUT);
}

TEST_CASE("a line says why it is by this transport and no other") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  CHECK(all.first.counts->census().lines().at("1").why == "best");
  all.best.is_cut = true;
  all.best.fail();
  all.bench.advance(5s);
  CHECK(all.second.counts->census().lines().at("0").why == "better_failed");
}

TEST_CASE("a new line begins once both ends have forgotten the last one") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  all.best.keeps_forgetting = true;
  all.best.fail();
  all.bench.advance(10s);
  CHECK(all.best.connected + all.other.connected == 1);
  all.best.forget_now();
  all.bench.advance(5s);
  CHECK(all.best.connected + all.other.connected == 2);
}

TEST_CASE("a push that is to end when its line fails is answered once that is so") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  all.best.holds = true;
  all.best.keeps_forgetting = true;
  all.ask<schema::Push>(1, 1, 2);
  all.best.fail();
  all.bench.settle();
  all.abort(1);
  all.bench.advance(10s); // its limit is over, too
  CHECK_FALSE(all.heard.contains(1));
  all.best.forget_now();
  all.bench.advance(5s);
  CHECK(all.fault_of(1) == MoveFault::ABORTED);
  CHECK(all.first.count("movements_open") == 0);
}

TEST_CASE("nor is it waited for when the other end is gone") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  all.best.holds = true;
  all.best.keeps_forgetting = true;
  all.ask<schema::Push>(1, 1, 2);
  all.best.fail();
  all.bench.advance(10s);
  CHECK_FALSE(all.heard.contains(1));
  all.tell_member(all.first, all.second, false);
  CHECK(all.fault_of(1) == MoveFault::TIMED_OUT);
}

TEST_CASE("what the transport did not begin is not torn, and ends as it ends") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  all.best.refusals = 1;
  all.ask<schema::Push>(1, 1, 2);
  CHECK_FALSE(all.heard.contains(1));
  all.tell_member(all.first, all.second, true, schema::Role::DECODE); // looks again
  CHECK(all.fault_of(1) == MoveFault::NONE);
  CHECK(two_nodes::arrived(all.first.own, all.second.own));
}

TEST_CASE("a movement that was to end is not begun again when its line fails") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  all.best.holds = true;
  all.best.is_deaf = true;
  all.ask<schema::Push>(1, 1, 2);
  all.bench.advance(5s); // its limit
  CHECK_FALSE(all.heard.contains(1));
  all.best.fail();
  all.bench.advance(1s); // until both have forgotten the line
  CHECK(all.fault_of(1) == MoveFault::TIMED_OUT);
  CHECK(all.first.count("movements_open") == 0);
  CHECK(all.first.count("moved_again_total") == 0);
}

TEST_CASE("a movement whose gate somebody waits at is not begun again") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  auto gate = all.first.shared.gates->open(gate_id{4});
  all.best.holds = true;
  all.ask<schema::Fetch>(1, 2, 1, 4);
  all.best.fail();
  all.bench.settle();
  CHECK(all.fault_of(1) == MoveFault::BROKEN);
}

TEST_CASE("a node is fenced once its line is forgotten, and not sooner") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  all.best.keeps_forgetting = true;
  all.tell_member(all.first, all.second, false);
  all.fence(all.first, all.second, 3);
  CHECK(all.first.told.fenced.empty());
  all.bench.tell<schema::Quiesce>(all.first.actor, [&](schema::Quiesce::Builder wish) {
    set_asker(wish.initAsker(), shard_name{});
    wish.setTicket(9);
    wish.setWriter(77);
    wish.setNode(1);
  });
  all.bench.settle();
  CHECK(all.quiesced.empty());
  all.best.forget_now();
  all.bench.settle();
  CHECK(all.first.told.fenced == std::vector<std::uint64_t>{3});
  CHECK(all.quiesced == std::vector<std::uint64_t>{9});
}

TEST_CASE("a node without a line is fenced at once") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.fence(all.first, all.second, 3);
  CHECK(all.first.told.fenced == std::vector<std::uint64_t>{3});
}

} // namespace
} // namespace perigee::transfer
