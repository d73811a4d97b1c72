#include "tests/lab/course.hpp"
#include "tests/lab/node_cluster.hpp"

// Nodes as processes, drained and replaced one after the other while requests run.

namespace perigee::test {
namespace {

using namespace std::chrono_literals;

class upgrade {
public:
  upgrade(std::uint64_t seed, const nodes_shape& shape)
    : roll_(seed * 7919), shape_(shape), all_(seed, shape) {}

  void run() {
    for (unsigned node = 1; node < shape_.nodes; ++node) {
      INFO("node " << node);
      ask_for_a_while(1 + roll_.below(8));
      all_.drain(node);
      for (int i = 0; i < 200 && !all_.has_drained(node); ++i)
        ask_for_a_while(roll_.below(2));
      REQUIRE(all_.has_drained(node));
      all_.kill(node);
      ask_for_a_while(1 + roll_.below(4));
      all_.start(node);
      all_.time().advance(10s);
    }
    all_.time().advance(20min);
  }

  void check() const {
    CHECK(all_.pairs_met() == shape_.nodes * (shape_.nodes - 1) / 2);
    CHECK(all_.left_over() == std::vector<std::string>{});
    for (const auto& [stream, asked] : asked_) {
      INFO("stream " << stream);
      check_answer(all_.clients().answers.at(stream), all_.expected(asked), false);
    }
  }

private:
  void ask_for_a_while(std::uint64_t requests) {
    for (std::uint64_t i = 0; i < requests; ++i) {
      auto what = some_question(roll_);
      asked_.emplace(all_.ask(what), what);
      all_.time().advance(std::chrono::milliseconds{roll_.below(300)});
    }
    all_.time().advance(100ms);
  }

  dice roll_;
  nodes_shape shape_;
  std::map<std::uint64_t, question> asked_;
  node_cluster all_; // its end may call what is above
};

void check_upgrade(std::uint64_t seed, const nodes_shape& shape) {
  upgrade one{seed, shape};
  INFO("seed " << seed);
  one.run();
  one.check();
}

TEST_CASE(
  "every node but the gateway's is drained and replaced, and no request fails") {
  FOR_EVERY_NODES_SEED(seed);
  check_upgrade(seed, {});
}

TEST_CASE("nor if all KV goes from node to node") {
  FOR_EVERY_NODES_SEED(seed);
  check_upgrade(seed, {.nodes = 5, .has_all_everywhere = false});
}

} // namespace
} // namespace perigee::test
