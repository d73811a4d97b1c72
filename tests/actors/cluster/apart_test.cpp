#include "tests/actors/cluster/meeting_node.hpp"
#include "tests/lab/seeds.hpp"

// Three nodes: what the first one's conductor hears of the other two, which may not reach
// each other.

namespace perigee::cluster {
namespace {

using namespace std::chrono_literals;
using how = schema::Reached::How;

/// Fences at once, and says of other nodes what it is told to by a Due.
class reaching_transfer {
public:
  using handle = transfer_actor;
  static constexpr const char* name = "transfer";

  reaching_transfer(handle::pointer self, const rt::world& in,
                    const std::shared_ptr<notebook>&)
    : desk_(self, in, name) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &reaching_transfer::ignore<schema::Fetch>),
            desk_.on(this, &reaching_transfer::ignore<schema::Push>),
            desk_.on(this, &reaching_transfer::ignore<schema::Abort>),
            desk_.on(this, &reaching_transfer::ignore<schema::Quiesce>),
            desk_.on(this, &reaching_transfer::ignore<schema::Done>),
            desk_.on(this, &reaching_transfer::ignore<schema::Flowed>),
            desk_.on(this, &reaching_transfer::ignore<schema::Dial>),
            desk_.on(this, &reaching_transfer::ignore<schema::Dialed>),
            desk_.on(this, &reaching_transfer::ignore<schema::Shown>),
            desk_.on(this, &reaching_transfer::ignore<schema::LineChanged>),
            desk_.on(this, &reaching_transfer::on_fence),
            desk_.on(this, &reaching_transfer::ignore<schema::Member>),
            desk_.on(this, &reaching_transfer::on_due)};
  }

  static std::uint64_t word_for(std::uint32_t whom, how what) {
    return whom * 4 + static_cast<std::uint64_t>(what);
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  cluster_name own_cluster() const {
    return {desk_.me().node, 0};
  }

  void on_fence(const Msg<schema::Fence>& wish) {
    desk_.tell<schema::Fenced>(own_cluster(), wish, [&](schema::Fenced::Builder said) {
      said.setIndex(wish->getIndex());
      said.setLife(wish->getLife());
    });
  }

  void on_due(const Msg<schema::Due>& told) {
    desk_.tell<schema::Reached>(own_cluster(), told,
                                [&](schema::Reached::Builder said) {
                                  said.setIndex(told->getEpoch() / 4);
                                  said.setHow(static_cast<how>(told->getEpoch() % 4));
                                });
  }

  rt::desk<handle> desk_;
};

habits of_three(bool places) {
  return {
    .nodes = 3, .add = [places](units& all, const rt::world& in, auto notes) {
      all.emplace_back();
      add_seat<reaching_transfer, schema::Role::TRANSFER>(all.back(), in, 0, notes);
      if (!places)
        return;
      all.emplace_back();
      add_seat<conductor_double, schema::Role::CONDUCTOR>(all.back(), in, 0, notes);
    }};
}

struct three_nodes {
  explicit three_nodes(std::uint64_t seed) : bench(seed) {}

  /// The other two have met the first.
  void meet_first() {
    second.find(first);
    third.find(first);
  }

  void say(const node& who, std::uint32_t whom, how what) {
    auto there = who.roster.find(transfer_name{node_index{&who == &first    ? 0u
                                                          : &who == &second ? 1u
                                                                            : 2u},
                                               0});
    REQUIRE(there);
    bench.tell<schema::Due>(there->actor, [&](schema::Due::Builder told) {
      told.setEpoch(reaching_transfer::word_for(whom, what));
    });
    there.reset();
    bench.settle();
  }

  /// The last that the conductor has heard of the two.
  std::string last(const std::string& pair) const {
    for (auto line = first.notes->lines.rbegin(); line != first.notes->lines.rend();
         ++line)
      if (line->starts_with("conductor") && line->ends_with(' ' + pair))
        return line->substr(line->find(' ') + 1);
    return {};
  }

  bench_type bench;
  node first{bench, 0, of_three(true)};
  node second{bench, 1, of_three(false)};
  node third{bench, 2, of_three(false)};
};

TEST_CASE("two nodes that have not met are apart for who places on both") {
  FOR_EVERY_SEED(seed);
  three_nodes all{seed};
  all.meet_first();
  CHECK(all.last("1-2") == "apart 1-2");
  CHECK(all.last("2-1") == "apart 2-1");
  CHECK(all.last("0-1") == "together 0-1");
  all.third.find(all.second);
  CHECK(all.last("1-2") == "together 1-2");
  CHECK(all.last("2-1") == "together 2-1");
}

TEST_CASE("so are two between which no KV goes") {
  FOR_EVERY_SEED(seed);
  three_nodes all{seed};
  all.meet_first();
  all.third.find(all.second);
  all.say(all.second, 2, how::NOT_AT_ALL);
  CHECK(all.last("1-2") == "apart 1-2");
  CHECK(all.second.counted("nodes_lost_total") == 0);
  all.say(all.first, 2, how::NOT_AT_ALL);
  CHECK(all.last("0-2") == "apart 0-2");
  SECTION("until it does") {
    all.say(all.second, 2, how::WELL);
    CHECK(all.last("1-2") == "together 1-2");
  }
  SECTION("or the one that said so is lost") {
    rt::kill(all.second.actor);
    all.bench.settle();
    CHECK(all.last("1-2") == "together 1-2");
  }
}

TEST_CASE("a conductor that comes later hears who is apart") {
  FOR_EVERY_SEED(seed);
  three_nodes all{seed};
  all.meet_first();
  auto conductor = all.first.roster.find(conductor_name{});
  REQUIRE(conductor);
  rt::kill(conductor->actor);
  conductor.reset();
  all.bench.settle();
  all.bench.advance(1ms);
  CHECK(all.first.notes->count("conductor.0#2 apart 1-2") > 0);
  CHECK(all.first.notes->count("conductor.0#2 apart 0-1") == 0);
}

TEST_CASE("who meets while there is no conductor is together for the next one") {
  FOR_EVERY_SEED(seed);
  three_nodes all{seed};
  all.meet_first();
  for (int i = 0; i < 2; ++i) { // the second time its successor has to wait
    auto conductor = all.first.roster.find(conductor_name{});
    REQUIRE(conductor);
    rt::kill(conductor->actor);
    conductor.reset();
    all.bench.settle();
    if (i == 0)
      all.bench.advance(1ms);
  }
  REQUIRE_FALSE(all.first.roster.find(conductor_name{}));
  all.third.find(all.second);
  all.bench.advance(20s);
  REQUIRE(all.first.roster.find(conductor_name{}));
  CHECK(all.last("1-2") != "apart 1-2");
  CHECK(all.last("2-1") != "apart 2-1");
}

TEST_CASE("a node whose transfer actor does not answer is lost, and met anew") {
  FOR_EVERY_SEED(seed);
  three_nodes all{seed};
  all.meet_first();
  CHECK_FALSE(all.second.wishes(0));
  all.say(all.first, 1, how::UNHEARD); // which did not dial, and need not know
  CHECK(all.first.counted("nodes_lost_total") == 1);
  CHECK(all.second.counted("nodes_lost_total") == 1);
  REQUIRE(all.second.wishes(0));
  all.second.find(all.first);
  CHECK(all.first.counted("nodes_met") == 2);
  CHECK(all.second.counted("nodes_met") == 1);
}

TEST_CASE("what is said of nodes that are not there is dropped") {
  FOR_EVERY_SEED(seed);
  three_nodes all{seed};
  all.meet_first();
  all.say(all.first, 99, how::UNHEARD);
  all.say(all.second, 2, how::NOT_AT_ALL); // it has not met that one
  CHECK(all.first.counted("stale_total") == 1);
  CHECK(all.second.counted("stale_total") == 1);
}

} // namespace
} // namespace perigee::cluster
