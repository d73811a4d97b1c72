#include "tests/lab/course.hpp"
#include "tests/lab/node_cluster.hpp"

// Nodes as processes: killed and stopped, at moments that the seed chooses, while
// requests run; and back again.

namespace perigee::test {
namespace {

using namespace std::chrono_literals;

/// What happens to whom before which message.
struct mishap {
  enum class kind : std::uint8_t { kill, stop, lose_actor };

  std::uint64_t before;
  unsigned node;
  kind what;
  std::chrono::nanoseconds lasts;
};

class nodes_course {
public:
  /// `spared`: so many nodes, the first ones, never come to harm.
  /// `are_nodes`: what happens does so to nodes, and not to one of their actors.
  nodes_course(std::uint64_t seed, const nodes_shape& shape, unsigned spared = 1,
               bool are_nodes = true)
    : roll_(seed * 7919), shape_(shape), all_(seed, shape) {
    auto total = 1 + roll_.below(3);
    for (std::uint64_t i = 0; i < total; ++i)
      plan_.push_back(
        {1 + roll_.below(messages_most),
         static_cast<unsigned>(spared + roll_.below(shape.nodes - spared)),
         !are_nodes            ? mishap::kind::lose_actor
         : roll_.below(2) == 0 ? mishap::kind::kill
                               : mishap::kind::stop,
         std::chrono::milliseconds{20
                                   + roll_.below(roll_.below(2) == 0 ? 2000 : 9000)}});
  }

  node_cluster& all() {
    return all_;
  }
  const std::string& story() const {
    return story_;
  }
  std::uint64_t messages() const {
    return messages_;
  }

  void run() {
    auto look = [this] { watch(); };
    for (int i = 0; i < 24; ++i) {
      auto one = some_question(roll_);
      if (all_.has_gateway())
        put(one);
      all_.time().advance(std::chrono::milliseconds{roll_.below(300)}, look);
      if (roll_.below(6) == 0 && all_.has_gateway() && !asked_.empty())
        all_.withdraw(1 + roll_.below(asked_.size()));
    }
    all_.time().advance(60s, look);
    all_.time().advance(20min);
  }

  /// All at once, for as many as can to serve.
  void run_afterwards() {
    for (int i = 0; i < 12; ++i)
      afterwards_.push_back(put(some_question(roll_)));
    all_.time().advance(20min);
  }

  void check() const {
    CHECK(all_.left_over() == std::vector<std::string>{});
    for (const auto& [stream, asked] : asked_) {
      INFO("stream " << stream);
      bool may_fail = std::ranges::find(afterwards_, stream) == afterwards_.end()
                      && !story_.empty();
      const auto& answer = all_.clients().answers.at(stream);
      check_answer(answer, all_.expected(asked), may_fail);
      if (answer.end == gateway::stream_end::failed) {
        REQUIRE(answer.why);
        CHECK_FALSE(answer.why->message.empty());
      }
      CHECK(answer.ended_at - answer.asked_at < 90s); // see request_limit
    }
  }

private:
  static constexpr std::uint64_t messages_most = 4000;

  std::uint64_t put(const question& what) {
    auto stream = all_.ask(what);
    asked_.emplace(stream, what);
    return stream;
  }

  void watch() {
    ++messages_;
    for (const auto& one : plan_)
      if (one.before == messages_ && all_.is_up(one.node))
        happen(one);
  }

  void happen(const mishap& one) {
    if (one.what == mishap::kind::lose_actor) {
      story_ += " n" + std::to_string(one.node) + " before "
                + std::to_string(one.before) + " loses ";
      story_ += all_.lose_actor(one.node, roll_.below(1 << 20)) + ";";
      return;
    }
    bool kills = one.what == mishap::kind::kill;
    story_ += (kills ? " kill n" : " stop n") + std::to_string(one.node) + " before "
              + std::to_string(one.before) + " for " + std::to_string(one.lasts / 1ms)
              + " ms;";
    if (kills)
      all_.kill(one.node);
    else
      all_.stop(one.node);
    all_.time().after(one.lasts, [this, one, kills] {
      if (kills)
        all_.start(one.node);
      else
        all_.wake(one.node);
    });
  }

  dice roll_;
  nodes_shape shape_;
  std::vector<mishap> plan_;
  std::string story_;
  std::uint64_t messages_ = 0;
  std::map<std::uint64_t, question> asked_;
  std::vector<std::uint64_t> afterwards_;
  node_cluster all_; // its end may call what is above
};

void check_course(std::uint64_t seed, const nodes_shape& shape, unsigned spared = 1,
                  bool are_nodes = true) {
  nodes_course one{seed, shape, spared, are_nodes};
  REQUIRE(one.all().pairs_met() == shape.nodes * (shape.nodes - 1) / 2);
  one.run();
  INFO("seed " << seed << ":" << one.story());
  CHECK(one.all().pairs_met() == shape.nodes * (shape.nodes - 1) / 2);
  CHECK(one.all().lines_up() == shape.nodes * (shape.nodes - 1) / 2);
  one.run_afterwards();
  one.check();
  for (unsigned i = shape.has_all_everywhere ? 0 : 1; i < shape.nodes; ++i) {
    INFO("node " << i);
    CHECK(one.all().prefilled(i) + one.all().decoded(i) > 0);
  }
}

nodes_shape small_arenas() {
  return {.nodes = 5,
          .has_all_everywhere = false,
          .prefill_blocks = 24,
          .decode_blocks = 24,
          .shard_blocks = 24};
}

TEST_CASE("whatever happens to nodes, every request has one end and all serve again") {
  FOR_EVERY_NODES_SEED(seed);
  check_course(seed, {});
}

TEST_CASE("wherever they are placed") {
  FOR_EVERY_NODES_SEED(seed);
  check_course(seed, {.placement = "random"});
}

TEST_CASE("also if all KV goes from node to node") {
  FOR_EVERY_NODES_SEED(seed);
  check_course(seed, {.nodes = 5, .has_all_everywhere = false});
}

TEST_CASE("also if cards move what a stopped process had begun") {
  FOR_EVERY_NODES_SEED(seed);
  check_course(seed, {.nodes = 5, .has_all_everywhere = false, .by = mover::cards});
}

TEST_CASE("also if arenas are small, and blocks soon another's") {
  FOR_EVERY_NODES_SEED(seed);
  check_course(seed, small_arenas());
}

TEST_CASE("also if the node with the gateway is among them") {
  FOR_EVERY_NODES_SEED(seed);
  check_course(seed, {.placement = "random"}, 0);
}

TEST_CASE("also if it is single actors that die, and others depend on them") {
  FOR_EVERY_NODES_SEED(seed);
  check_course(seed, small_arenas(), 0, false);
}

TEST_CASE("one seed, one course of a cluster of nodes") {
  auto value = [](std::uint64_t seed) {
    nodes_course one{seed, {}};
    one.run();
    return one.all().time().record().value();
  };
  for (std::uint64_t seed : {1, 2, 3})
    CHECK(value(seed) == value(seed));
}

TEST_CASE("what befalls nodes befalls moves that are under way") {
  std::uint64_t moved = 0, late = 0, fenced = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    nodes_course one{seed, {.nodes = 5, .has_all_everywhere = false}};
    one.run();
    moved += one.all().payloads().moves_total();
    late += one.all().payloads().late_total();
    fenced += one.all().payloads().fenced_total();
  }
  CHECK(moved > 1000);
  CHECK(late > 5);
  CHECK(fenced > 5);
}

TEST_CASE("the same, a thousand times, by hand", "[.thousand]") {
  auto shape
    = GENERATE(nodes_shape{}, nodes_shape{.placement = "random"},
               nodes_shape{.nodes = 5, .has_all_everywhere = false},
               nodes_shape{.nodes = 5, .has_all_everywhere = false, .by = mover::cards},
               small_arenas());
  for (std::uint64_t seed = 1000; seed < 2000; ++seed)
    check_course(seed, shape);
}

TEST_CASE("and single actors, a thousand times, by hand", "[.thousand]") {
  for (std::uint64_t seed = 1000; seed < 2000; ++seed)
    check_course(seed, small_arenas(), 0, false);
}

TEST_CASE("and with the gateway's node, a thousand times, by hand", "[.thousand]") {
  for (std::uint64_t seed = 1000; seed < 2000; ++seed)
    check_course(seed, {.placement = "random"}, 0);
}

} // namespace
} // namespace perigee::test
