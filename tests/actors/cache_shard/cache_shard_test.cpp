#include "tests/actors/cache_shard/node.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::shard {
namespace {

using namespace std::chrono_literals;

constexpr block_key a{1, 1}, b{1, 2}, c{1, 3}, x{2, 1}, y{2, 2};
constexpr rt::actor_tag somebody{123};

// -- room ---------------------------------------------------------------------

TEST_CASE("blocks that are withheld are for nobody, until they are given back") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.store({a, b});
  here.withhold(3);
  CHECK(here.count("blocks_withheld") == 3);
  CHECK(here.count("blocks_evicted_total") == 1);
  here.bench.advance(1s);
  CHECK(here.told.here == std::set<block_key>{a});
  here.withhold(100);
  CHECK(here.count("blocks_withheld") == 4);
  CHECK(here.pin({a}).isGone());
  CHECK(here.reserve({x}).isBusy());
  here.withhold(1);
  CHECK(here.count("blocks_withheld") == 1);
  here.store({x, y});
  CHECK(here.pin({x, y}).isLease());
  here.withhold(0);
  CHECK(here.count("blocks_writing") == 0);
  CHECK(here.count("blocks_free") == 2);
}

TEST_CASE("what somebody reads or writes is withheld once he is done") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.store({a});
  auto lease = here.pin({a}).getLease().getId();
  auto grant = here.reserve({x}).getGranted().getId();
  here.withhold(4);
  CHECK(here.count("blocks_withheld") == 2);
  here.unpin(lease);
  CHECK(here.count("blocks_withheld") == 3);
  here.seal(grant);
  CHECK(here.count("blocks_withheld") == 4);
  CHECK(here.count("blocks_sealed") == 0);
}

TEST_CASE("nobody but the cluster withholds blocks") {
  node here{1};
  here.bench.roster().vacate(cluster_name{}, {1, 1});
  here.withhold(4);
  CHECK(here.count("blocks_withheld") == 0);
  CHECK(here.count("stale_total") == 1);
}

// -- reading and writing ------------------------------------------------------

TEST_CASE("a shard says how it was started") {
  CHECK(to_string(options{.lease_limit = 7ms, .leases_max = 9})
        == "eviction=lru lease_limit_ms=7 grant_limit_ms=600000 transfer_limit_ms=5000 "
           "quiesce_limit_ms=1000 leases_max=9 grants_max=4096 climb_limit_ms=5000 "
           "climbs_max=256 spare_blocks=16 conductor_node=0 news_every_ms=100");
}

TEST_CASE("what is stored can be read, as far as it is here") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  CHECK(here.pin({a, b}).isGone());
  auto granted = here.reserve({a, b}).getGranted();
  REQUIRE(granted.getItems().size() == 2);
  CHECK(granted.getItems()[1].getIndex() == 1);
  CHECK(granted.getSegment() == 1);
  CHECK(here.pin({a, b}).isGone()); // nobody reads what is being written
  here.seal(granted.getId());
  auto lease = here.pin({a, b, c}).getLease();
  REQUIRE(lease.getBlocks().size() == 2);
  CHECK(lease.getBlocks()[0] == granted.getItems()[0].getBlock());
  CHECK(lease.getBlocks()[1] == granted.getItems()[1].getBlock());
  CHECK(lease.getSegment() == 1);
  CHECK(lease.getLife() == 1);
  CHECK(lease.getExpiresInNs() == 10'000'000'000);
  CHECK(here.count("blocks_leased") == 2);
  here.unpin(lease.getId());
  here.check_conservation();
  CHECK(here.told.here == std::set<block_key>{a, b});
}

TEST_CASE("what was not written is not there") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto granted = here.reserve({a, b}).getGranted();
  here.seal(granted.getId(), false);
  CHECK(here.pin({a}).isGone());
  here.check_conservation();
  CHECK(here.told.news == 0);
}

TEST_CASE("what is here already need not be written, nor sealed") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.store({a, b});
  auto granted = here.reserve({a, b}).getGranted();
  CHECK(granted.getItems().size() == 0);
  CHECK(granted.getId() == 0);
  auto more = here.reserve({a, b, c}).getGranted();
  REQUIRE(more.getItems().size() == 1);
  CHECK(more.getItems()[0].getIndex() == 2);
  here.seal(more.getId());
  here.check_conservation();
  CHECK(here.count("stale_total") == 0);
}

TEST_CASE("of two who write the same, the first to seal has stored it") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto first = here.reserve({a}).getGranted(), second = here.reserve({a}).getGranted();
  here.seal(second.getId());
  here.seal(first.getId());
  CHECK(here.count("blocks_stored_total") == 1);
  CHECK(here.count("blocks_duplicate_total") == 1);
  here.check_conservation();
}

TEST_CASE("room is made of what nobody needs, and the conductor hears of it") {
  FOR_EVERY_SEED(seed);
  node here{seed, 3};
  here.store({a, b});
  here.store({x, y}); // the tail of the other chain goes
  CHECK(here.count("blocks_evicted_total") == 1);
  here.check_conservation();
  CHECK(here.told.here == std::set<block_key>{a, x, y});
}

TEST_CASE("where all is needed, who wants to write is told that there is no room") {
  FOR_EVERY_SEED(seed);
  node here{seed, 2};
  here.store({a, b});
  auto lease = here.pin({a, b}).getLease().getId();
  CHECK(here.reserve({x}).isBusy());
  CHECK(here.reserve_private(1).isBusy());
  here.unpin(lease);
  auto granted = here.reserve({x, y, c}).getGranted(); // a part is better than nothing
  CHECK(granted.getItems().size() == 2);
  here.seal(granted.getId());
  CHECK(here.count("busy_total") == 2);
  here.check_conservation();
}

TEST_CASE("leases and grants are counted") {
  FOR_EVERY_SEED(seed);
  node here{seed, 4, {.leases_max = 1, .grants_max = 1}};
  here.store({a});
  auto lease = here.pin({a}).getLease().getId();
  CHECK(here.pin({a}).isBusy());
  here.unpin(lease);
  CHECK(here.pin({a}).isLease());
  auto granted = here.reserve({x}).getGranted().getId();
  CHECK(here.reserve({y}).isBusy());
  here.seal(granted, false);
  CHECK(here.reserve({y}).isGranted());
}

// -- parking ------------------------------------------------------------------

TEST_CASE("a parked sequence stays until it is released") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.store({a, b});
  auto parked = here.reserve_private(3).getGranted();
  REQUIRE(parked.getItems().size() == 3);
  here.seal(parked.getId());
  CHECK(here.count("blocks_kept") == 3);
  CHECK(here.reserve_private(2).isBusy());
  here.seal(parked.getId()); // it was: a second time says nothing
  here.release(parked.getId());
  CHECK(here.count("blocks_kept") == 0);
  here.release(parked.getId());
  CHECK(here.count("stale_total") == 2);
  here.check_conservation();
}

TEST_CASE("a parked sequence whose blocks could not be written leaves none") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto parked = here.reserve_private(3).getGranted();
  here.release(parked.getId()); // it is being written: not yet
  CHECK(here.count("blocks_writing") == 3);
  here.seal(parked.getId(), false);
  here.check_conservation();
}

// -- deadlines ----------------------------------------------------------------

TEST_CASE("a lease that is not returned ends when nobody can be reading any more") {
  FOR_EVERY_SEED(seed);
  node here{seed, 1, {.lease_limit = 20ms, .transfer_limit = 5ms}};
  here.store({a});
  auto lease = here.pin({a}).getLease().getId();
  here.bench.advance(25ms - 1ns);
  CHECK(here.reserve({x}).isBusy());
  here.bench.advance(1ns);
  CHECK(here.count("leases_expired_total") == 1);
  here.unpin(lease);
  CHECK(here.count("stale_total") == 1);
  here.check_conservation();
}

TEST_CASE("a writer that takes too long keeps its blocks: it may be writing still") {
  FOR_EVERY_SEED(seed);
  node here{seed, 1, {.grant_limit = 20ms}};
  auto granted = here.reserve({a}).getGranted().getId();
  here.bench.advance(1h);
  CHECK(here.count("grants_overdue_total") == 1);
  CHECK(here.reserve({x}).isBusy());
  here.seal(granted);
  CHECK(here.pin({a}).isLease());
}

// -- who may say what ---------------------------------------------------------

TEST_CASE("who has his name no longer is not heard") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.store({a});
  auto lease = here.pin({a}).getLease().getId();
  auto successor = here.bench.spawn<pool_user<prefill_actor>>(&here.heard);
  here.bench.roster().seat(prefill_name{}, {successor, {1, 2}, somebody});
  auto say_pin = [&] {
    here.bench.tell<schema::Pin>(here.subject, [&](schema::Pin::Builder wish) {
      set_asker(wish.initAsker(), prefill_name{});
      set_chain(wish.initChain(), block_chain{a});
    });
    here.bench.settle();
  };
  say_pin();
  CHECK(here.count("stale_total") == 1);
  CHECK(here.count("pins_total") == 1);
  here.unpin(lease); // its own: the lease names him, not his name
  CHECK(here.count("blocks_leased") == 0);
}

TEST_CASE("nobody returns another's lease, or seals another's grant") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.store({a});
  auto lease = here.pin({a}).getLease().getId();
  auto granted = here.reserve({x}).getGranted().getId();
  auto parked = here.reserve_private(1).getGranted().getId();
  here.seal(parked);
  auto other = here.bench.world();
  other.where.index = 7;
  rt::doorway stranger{other, "stranger"};
  stranger.tell<schema::Unpin>(here.subject, rt::unprompted,
                               [&](auto said) { said.setLease(lease); });
  stranger.tell<schema::Seal>(here.subject, rt::unprompted, [&](auto said) {
    said.setGrant(granted);
    said.setOk(true);
  });
  stranger.tell<schema::Release>(here.subject, rt::unprompted,
                                 [&](auto said) { said.setGrant(parked); });
  here.unpin(granted); // a grant is no lease, nor a lease a grant
  here.seal(lease);
  CHECK(here.count("stale_total") == 5);
  CHECK(here.count("blocks_leased") == 1);
  CHECK(here.count("blocks_writing") == 1);
  CHECK(here.count("blocks_kept") == 1);
}

TEST_CASE("whoever cannot be answered is not heard") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.bench.tell<schema::Pin>(here.subject, [&](schema::Pin::Builder wish) {
    set_asker(wish.initAsker(), decode_name{}); // takes no Pinned
  });
  here.bench.tell<schema::Reserve>(here.subject, [&](schema::Reserve::Builder wish) {
    set_asker(wish.initAsker(), shard_name{});
  });
  here.bench.settle();
  CHECK(here.count("stale_total") == 2);
}

// -- those who are gone -------------------------------------------------------

TEST_CASE("a lost reader's leases end at once") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.store({a});
  REQUIRE(here.pin({a}).isLease());
  here.tell_of_loss(somebody);
  CHECK(here.count("blocks_leased") == 1);
  here.tell_of_loss(here.bench.tag());
  CHECK(here.count("blocks_leased") == 0);
  CHECK(here.asked.empty()); // it wrote nothing
  here.check_conservation();
}

TEST_CASE("a lost writer's blocks are free once its movements are over") {
  FOR_EVERY_SEED(seed);
  node here{seed, 4, {.quiesce_limit = 50ms}};
  REQUIRE(here.reserve({a, b}).isGranted());
  auto parked = here.reserve_private(1).getGranted().getId();
  here.seal(parked);
  here.tell_of_loss(here.bench.tag());
  here.tell_of_loss(here.bench.tag()); // told twice, asked once
  REQUIRE(here.asked.size() == 1);
  CHECK(here.asked[0]->getWriter() == static_cast<std::uint64_t>(here.bench.tag()));
  CHECK(here.count("blocks_writing") == 2);
  here.bench.advance(50ms - 1ns);
  CHECK(here.asked.size() == 1);
  here.bench.advance(1ns); // no answer: the one who was asked may have died
  REQUIRE(here.asked.size() == 2);
  here.answer_quiesce(here.asked[0]->getTicket());
  CHECK(here.count("blocks_writing") == 2);
  here.answer_quiesce(here.asked[1]->getTicket());
  CHECK(here.count("blocks_writing") == 0);
  CHECK(here.count("blocks_kept") == 0);
  here.bench.advance(1h);
  CHECK(here.asked.size() == 2);
  here.check_conservation();
}

TEST_CASE("what a writer sealed before it was lost is stored") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  auto granted = here.reserve({a}).getGranted().getId();
  here.tell_of_loss(here.bench.tag());
  here.seal(granted); // was on its way
  here.answer_quiesce(here.asked.at(0)->getTicket());
  CHECK(here.pin({a}).isLease());
}

TEST_CASE("only the transfer actor that was asked says that a writer is quiet") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  REQUIRE(here.reserve({a}).isGranted());
  here.tell_of_loss(here.bench.tag());
  auto successor = here.bench.spawn<patient_mover>(&here.asked);
  here.bench.roster().seat(transfer_name{}, {successor, {1, 2}, somebody});
  here.answer_quiesce(here.asked.at(0)->getTicket());
  CHECK(here.count("blocks_writing") == 1);
  here.bench.advance(1s);
  CHECK(here.asked.size() == 2); // the successor is asked
}

TEST_CASE("that somebody is lost is believed from the cluster alone") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.store({a});
  REQUIRE(here.pin({a}).isLease());
  auto successor = here.bench.spawn<test::quiet_cluster>();
  here.bench.roster().seat(cluster_name{}, {successor, {1, 2}, somebody});
  here.tell_of_loss(here.bench.tag());
  CHECK(here.count("blocks_leased") == 1);
  CHECK(here.count("stale_total") == 1);
}

TEST_CASE("a restarted shard begins empty, over an arena of its own") {
  FOR_EVERY_SEED(seed);
  node here{seed};
  here.store({a});
  auto lease = here.pin({a}).getLease().getId();
  auto granted = here.reserve({x}).getGranted().getId();
  rt::kill(here.subject);
  here.bench.settle();
  CHECK(here.segments->size() == 0);
  here.told = {};
  here.subject = here.start_one(2);
  CHECK(here.pin({a}).isGone());
  here.unpin(lease);
  here.seal(granted);
  CHECK(here.count("stale_total") == 2);
  CHECK(here.reserve({x}).getGranted().getSegment() == 2);
}

} // namespace
} // namespace perigee::shard
