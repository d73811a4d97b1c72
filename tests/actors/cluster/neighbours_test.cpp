#include "tests/actors/cluster/doubles.hpp"
#include "tests/lab/lab.hpp"
#include "tests/lab/seeds.hpp"

#include <catch2/catch.hpp>

// Two nodes of a cluster, each with its own roster, in one actor system: connections are
// handles that a test gives, and end when it ends an actor.

namespace perigee::cluster {
namespace {

using namespace std::chrono_literals;
using bench_type = test::lab<caf::id_block::perigee, caf::id_block::perigee_nodes>;

/// Signs by a secret that all of a test share.
class shared_secret final : public credentials {
public:
  explicit shared_secret(std::string secret) : secret_(std::move(secret)) {}

  challenge draw() override {
    challenge fresh{};
    fresh[0] = std::byte{++drawn_};
    return fresh;
  }
  proof sign(std::string_view what) override {
    auto all = secret_ + std::to_string(std::hash<std::string_view>{}(what));
    const auto* bytes = reinterpret_cast<const std::byte*>(all.data());
    return {bytes, bytes + all.size()};
  }
  bool verify(node_index, std::string_view what, const proof& shown) override {
    return shown == sign(what);
  }

private:
  std::string secret_;
  std::uint8_t drawn_ = 0;
};

struct habits {
  std::uint64_t life = 1;
  std::string secret = "a";
  std::byte topology{1};
  std::string name = {}; ///< Empty: its own.
};

/// One node: a rejector and a group.
class node {
public:
  node(bench_type& bench, std::uint32_t index, const habits& how = {})
    : bench_(bench), index_(index),
      in_{bench.world().system, bench.world().record, roster,   bench.world().log,
          name_of_node(index),  node_index{index},    how.life, 1} {
    units all(2);
    add_seat<rejector_double, schema::Role::REJECTOR>(all[0], in_, index, notes);
    add_seat<prefill_double, schema::Role::PREFILL>(all[1], in_, index, notes);
    options with;
    with.elsewhere = neighbourhood{};
    auto& there = *with.elsewhere;
    there.card = {"test",
                  how.name.empty() ? in_.node : how.name,
                  in_.index,
                  how.life,
                  {how.topology},
                  {},
                  {},
                  "1"};
    there.nodes = {"n0", "n1"};
    if (index == 1)
      there.dials = {node_index{0}};
    there.list = list;
    there.credential = std::make_shared<shared_secret>(how.secret);
    actor = bench.adopt(start(in_, {}, roster, std::move(all), with, counts));
    bench.settle();
  }

  node(const node&) = delete;
  node& operator=(const node&) = delete;

  ~node() {
    rt::kill(actor);
    bench_.settle();
    actor = nullptr;
    roster.clear();
  }

  /// As the thread that connects would have it.
  void find(const receiving_actor& other) {
    auto wished = list->is_wished(node_index{1 - index_});
    REQUIRE(wished);
    list->take(node_index{1 - index_});
    rt::doorway door{in_, "connector"};
    door.tell<schema::Found>(
      face_of(actor), rt::unprompted, [&](auto news) { news.setIndex(1 - index_); },
      other);
    bench_.settle();
  }

  std::uint64_t counted(const std::string& what) const {
    std::uint64_t found = 0;
    counts->each([&](auto name, auto, auto value) {
      if (name == what)
        found = static_cast<std::uint64_t>(value);
    });
    return found;
  }

  bool wishes() const {
    return list->is_wished(node_index{1 - index_});
  }

  /// Actors here that have heard that the group there is up, or down.
  std::size_t heard(const std::string& what) const {
    return notes->count("heard " + what + " prefill." + std::to_string(1 - index_));
  }

  bool seats(std::uint32_t whose) const {
    return roster.find(prefill_name{node_index{whose}, whose}).has_value();
  }

  static std::string name_of_node(std::uint32_t index) {
    std::string name{"n"};
    return name += std::to_string(index);
  }

  rt::roster roster{64};
  std::shared_ptr<notebook> notes = std::make_shared<notebook>();
  std::shared_ptr<probe> counts = std::make_shared<probe>();
  std::shared_ptr<dial_list> list = std::make_shared<dial_list>();
  cluster_actor actor;

private:
  bench_type& bench_;
  std::uint32_t index_;
  rt::world in_;
};

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
