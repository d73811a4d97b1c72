#include "tests/actors/cluster/meeting_node.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::cluster {
namespace {

using namespace std::chrono_literals;

TEST_CASE("two nodes meet, and everybody hears of everybody") {
  FOR_EVERY_SEED(seed);
  bench_type bench{seed};
  node first{bench, 0}, second{bench, 1};
  CHECK_FALSE(first.wishes()); // it waits to be found
  second.find(face_of(first.actor));
  for (auto* one : {&first, &second}) {
    CHECK(one->heard("up") == 2); // the rejector and the group
    CHECK(one->counted("nodes_met") == 1);
    CHECK(one->seats(0));
    CHECK(one->seats(1));
    CHECK(one->notes->count("doubts") == 0);
  }
}

TEST_CASE("when a node is gone its actors are, and it may come back in another life") {
  FOR_EVERY_SEED(seed);
  bench_type bench{seed};
  node first{bench, 0};
  {
    node second{bench, 1};
    second.find(face_of(first.actor));
  }
  CHECK(first.heard("down") == 2);
  CHECK_FALSE(first.seats(1));
  CHECK(first.counted("nodes_lost_total") == 1);
  node again{bench, 1, {.life = 2}};
  again.find(face_of(first.actor));
  CHECK(first.heard("up") == 4);
  CHECK(first.seats(1));
}

TEST_CASE("who dials and loses the other dials again") {
  FOR_EVERY_SEED(seed);
  bench_type bench{seed};
  node second{bench, 1};
  {
    node first{bench, 0};
    second.find(face_of(first.actor));
    CHECK_FALSE(second.wishes());
  }
  CHECK(second.wishes());
  CHECK(second.heard("down") == 2);
}

TEST_CASE("an actor that dies elsewhere is heard of, and so is its successor") {
  FOR_EVERY_SEED(seed);
  bench_type bench{seed};
  node first{bench, 0}, second{bench, 1};
  second.find(face_of(first.actor));
  auto group = second.roster.find(prefill_name{node_index{1}, 1});
  REQUIRE(group);
  rt::kill(group->actor);
  group.reset();
  bench.settle();
  CHECK(first.heard("down") == 2);
  bench.advance(1ms);
  CHECK(first.heard("up") == 4);
  CHECK(first.notes->count("heard up prefill.1#2") == 2);
}

TEST_CASE("an earlier life is turned away") {
  FOR_EVERY_SEED(seed);
  bench_type bench{seed};
  node first{bench, 0};
  {
    node late{bench, 1, {.life = 5}};
    late.find(face_of(first.actor));
  }
  node early{bench, 1, {.life = 4}};
  early.find(face_of(first.actor));
  CHECK(first.counted("nodes_met") == 0);
  CHECK(first.counted("turned_away_total") == 1);
  CHECK(early.wishes());
}

TEST_CASE("a newer life takes the place of one whose end was not noticed") {
  FOR_EVERY_SEED(seed);
  bench_type bench{seed};
  node first{bench, 0}, second{bench, 1};
  second.find(face_of(first.actor));
  node newer{bench, 1, {.life = 2}};
  newer.find(face_of(first.actor));
  CHECK(first.heard("down") == 2);
  CHECK(first.heard("up") == 4);
  CHECK(newer.counted("nodes_met") == 1);
}

TEST_CASE("who only says Hello harms nobody: not who is met, nor who comes later") {
  FOR_EVERY_SEED(seed);
  bench_type bench{seed};
  auto life = GENERATE(std::uint64_t{1}, ~std::uint64_t{0});
  node first{bench, 0};
  auto say_hello = [&] {
    auto said = bench.ask<schema::Hello, schema::Welcome>(
      receiving_actor{face_of(first.actor)}, [&](schema::Hello::Builder hello) {
        write(hello.initWho(),
              {"test", "n1", node_index{1}, life, {std::byte{1}}, {}, {}, "1"});
        hello.initChallenge(challenge{}.size());
      });
    bench.settle();
    REQUIRE(said->answer);
    CHECK((*said->answer)->isMet());
  };
  say_hello();
  bench.advance(10s); // nothing is proved
  node second{bench, 1};
  second.find(face_of(first.actor));
  REQUIRE(first.counted("nodes_met") == 1);
  say_hello();
  bench.advance(10s);
  CHECK(first.counted("nodes_met") == 1);
  CHECK(first.counted("nodes_lost_total") == 0);
  CHECK(first.heard("down") == 0);
}

TEST_CASE("who proves nothing does not take the place of who is met") {
  FOR_EVERY_SEED(seed);
  bench_type bench{seed};
  node first{bench, 0}, second{bench, 1};
  second.find(face_of(first.actor));
  node impostor{bench, 1, {.life = 9, .secret = "b"}};
  impostor.find(face_of(first.actor));
  bench.advance(10s);
  CHECK(first.counted("nodes_met") == 1);
  CHECK(first.counted("nodes_lost_total") == 0);
  CHECK(impostor.counted("nodes_met") == 0);
}

TEST_CASE("who does not fit, or does not prove its name, is not met") {
  FOR_EVERY_SEED(seed);
  auto wrong = GENERATE(habits{.topology = std::byte{2}}, habits{.secret = "b"},
                        habits{.name = "n7"}, habits{.life = 0});
  bench_type bench{seed};
  node first{bench, 0}, second{bench, 1, wrong};
  second.find(face_of(first.actor));
  CHECK(first.counted("nodes_met") == 0);
  CHECK(second.counted("nodes_met") == 0);
  CHECK(first.heard("up") == 0);
  CHECK(second.heard("up") == 0);
  CHECK(second.wishes());
  bench.advance(10s); // nothing is left of it
  CHECK(first.counted("nodes_met") == 0);
}

/// Takes a Hello, and keeps the answer to itself.
struct mute {
  using handle = receiving_actor;
  static constexpr const char* name = "mute";
  mute(handle::pointer self, const rt::world& in) : desk(self, in, name) {}
  handle::behavior_type make_behavior() {
    return {desk.on(this, &mute::hello), desk.on(this, &mute::prove)};
  }
  rt::reply<schema::Welcome> hello(const Msg<schema::Hello>& wish) {
    promises.push_back(desk.promise_to<schema::Welcome>(wish));
    return promises.back();
  }
  void prove(const Msg<schema::Prove>&, const greeting_actor&,
             const introducing_actor&) {}
  rt::desk<handle> desk;
  std::vector<rt::promise<schema::Welcome>> promises;
};

TEST_CASE("who never answers is given up after the limit") {
  FOR_EVERY_SEED(seed);
  bench_type bench{seed};
  node second{bench, 1};
  second.find(bench.spawn<mute>());
  CHECK_FALSE(second.wishes());
  bench.advance(5s);
  CHECK(second.wishes());
}

TEST_CASE("what strangers say of actors is dropped") {
  FOR_EVERY_SEED(seed);
  bench_type bench{seed};
  node first{bench, 0}, second{bench, 1};
  second.find(face_of(first.actor));
  auto in = bench.world();
  in.node = "n1";
  rt::doorway door{in, "cluster_not"};
  auto group = second.roster.find(prefill_name{node_index{1}, 1});
  door.tell<schema::Join>(
    face_of(first.actor), rt::unprompted,
    [](schema::Join::Builder news) {
      news.setRole(schema::Role::PREFILL);
      news.initWho().setNode(1);
      news.getWho().setIndex(9);
      news.setLife(1);
      news.setIncarnation(1);
    },
    group->actor);
  door.tell<schema::Leave>(face_of(first.actor), rt::unprompted,
                           [](schema::Leave::Builder news) {
                             news.setRole(schema::Role::PREFILL);
                             news.initWho().setNode(1);
                             news.getWho().setIndex(1);
                             news.setLife(1);
                             news.setIncarnation(1);
                           });
  group.reset();
  bench.settle();
  CHECK(first.counted("stale_total") == 2);
  CHECK(first.seats(1));
  CHECK_FALSE(first.roster.find(prefill_name{node_index{1}, 9}));
}

} // namespace
} // namespace perigee::cluster
