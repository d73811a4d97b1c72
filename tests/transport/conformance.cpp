#include "tests/transport/conformance.hpp"

#include "tests/transport/recorder.hpp"

#include <thread>

namespace perigee::transport::test {
namespace {

using namespace std::chrono_literals;

constexpr segment_id source{1}, target{2}, other_shape{3}, modelled{4};
constexpr geometry wide{.layer_bytes = 128, .layers = 3};

/// A bed with two segments, and what a test says of moves between them.
struct scene {
  explicit scene(const make_bed& make) : all(make()) {
    REQUIRE(all->segments().add(from.as_segment()));
    REQUIRE(all->segments().add(to.as_segment()));
  }

  ~scene() {
    all->subject().close();
    CHECK_FALSE(heard.any_twice());
    CHECK(all->subject().counted().outstanding == 0);
  }

  move blocks(std::vector<block_pair> pairs) const {
    return whole_blocks(source, target, std::move(pairs));
  }

  result<void, fault> submit(std::uint64_t id, move what) {
    return all->subject().submit(move_id{id}, std::move(what), heard.pen());
  }

  outcome run(std::uint64_t id, move what) {
    auto said = submit(id, std::move(what));
    REQUIRE(said);
    return heard.of(move_id{id});
  }

  fault refusal(std::uint64_t id, move what) {
    auto said = submit(id, std::move(what));
    REQUIRE_FALSE(said);
    CHECK_FALSE(heard.told(move_id{id}));
    return said.error();
  }

  bool arrived(block_pair pair, std::uint32_t layer) const {
    return from.layer(pair.from, layer) == to.layer(pair.to, layer);
  }

  bool arrived(block_pair pair) const {
    return arrived(pair, 0) && arrived(pair, 1) && arrived(pair, 2);
  }

  memory from{source, 1};
  memory to{target, 99};
  std::unique_ptr<bed> all;
  recorder heard;
};

void moves_bytes(const make_bed& make) {
  SECTION("what was asked for is moved, and nothing else") {
    scene here{make};
    auto untouched = here.to.layer(7, 0);
    CHECK(here.run(1, here.blocks({{0, 5}, {1, 6}, {7, 0}})).value()
          == 3 * small.block_bytes());
    CHECK(here.arrived({0, 5}));
    CHECK(here.arrived({1, 6}));
    CHECK(here.arrived({7, 0}));
    CHECK(here.to.layer(7, 0) == untouched);
    CHECK_FALSE(here.arrived({2, 2}, 0));
  }
  SECTION("only the layers that were asked for are moved") {
    scene here{make};
    auto some = here.blocks({{3, 4}});
    some.layers = {1, 1};
    CHECK(here.run(1, some).value() == small.layer_bytes);
    CHECK(here.arrived({3, 4}, 1));
    CHECK_FALSE(here.arrived({3, 4}, 0));
    CHECK_FALSE(here.arrived({3, 4}, 2));
  }
  SECTION("a move of no blocks succeeds, waits for nothing, and opens its gate") {
    scene here{make};
    auto none = here.blocks({});
    none.wait_for = std::make_shared<gate>();
    none.opens = std::make_shared<gate>();
    CHECK(here.run(1, none).value() == 0);
    CHECK(none.opens->is_open(small.layers - 1));
  }
  SECTION("a move of no layers succeeds") {
    scene here{make};
    auto none = here.blocks({{0, 0}});
    none.layers = {small.layers, 0};
    CHECK(here.run(1, none).value() == 0);
  }
  SECTION("a modelled segment takes part without bytes") {
    scene here{make};
    REQUIRE(here.all->segments().add({modelled, nullptr, small, blocks_total, {}}));
    auto into_nothing = here.blocks({{0, 0}, {1, 1}});
    into_nothing.to = modelled;
    into_nothing.opens = std::make_shared<gate>();
    CHECK(here.run(1, into_nothing).value() == 2 * small.block_bytes());
    CHECK(into_nothing.opens->read().level == small.layers);
  }
  SECTION("what was done is counted") {
    scene here{make};
    REQUIRE(here.run(1, here.blocks({{0, 0}, {1, 1}})));
    REQUIRE(here.run(2, here.blocks({{2, 2}})));
    static_cast<void>(here.refusal(3, here.blocks({{blocks_total, 0}})));
    auto counts = here.all->subject().counted();
    CHECK(counts.moves_total == 2);
    CHECK(counts.bytes_total == 3 * small.block_bytes());
    CHECK(counts.of(fault::out_of_range) == 1);
    CHECK(counts.of(fault::gone) == 0);
  }
}

void refuses(const make_bed& make) {
  SECTION("a segment that is not registered is gone") {
    scene here{make};
    auto lost = here.blocks({{0, 0}});
    lost.to = segment_id{77};
    CHECK(here.refusal(1, lost) == fault::gone);
    lost = here.blocks({{0, 0}});
    lost.from = segment_id{77};
    CHECK(here.refusal(2, lost) == fault::gone);
  }
  SECTION("a block that is not there is out of range") {
    scene here{make};
    CHECK(here.refusal(1, here.blocks({{0, 0}, {0, blocks_total}}))
          == fault::out_of_range);
    CHECK(here.refusal(2, here.blocks({{0xffffffff, 0}})) == fault::out_of_range);
    CHECK_FALSE(here.arrived({0, 0}, 0)); // found before anything was touched
  }
  SECTION("a layer that is not there is out of range, whatever the numbers") {
    scene here{make};
    for (auto layers : {layer_range{0, small.layers + 1}, layer_range{small.layers, 1},
                        layer_range{2, 0xffffffff}, layer_range{0xffffffff, 2}}) {
      auto wrong = here.blocks({{0, 0}});
      wrong.layers = layers;
      CHECK(here.refusal(1, wrong) == fault::out_of_range);
    }
  }
  SECTION("segments of unequal geometry don't fit") {
    scene here{make};
    memory unlike{other_shape, 0, blocks_total, wide};
    REQUIRE(here.all->segments().add(unlike.as_segment()));
    auto wrong = here.blocks({{0, 0}});
    wrong.to = other_shape;
    CHECK(here.refusal(1, wrong) == fault::out_of_range);
  }
  SECTION("who comes when all places are taken is told that it is busy") {
    scene here{make};
    auto held = std::make_shared<gate>();
    for (std::uint64_t id = 0; id < bed::outstanding_max; ++id) {
      auto waiting = here.blocks({{0, 0}});
      waiting.wait_for = held;
      REQUIRE(here.submit(id, waiting));
    }
    CHECK(here.refusal(99, here.blocks({{1, 1}})) == fault::busy);
    held->open_to(small.layers);
    for (std::uint64_t id = 0; id < bed::outstanding_max; ++id)
      CHECK(here.heard.of(move_id{id}));
    CHECK(here.run(99, here.blocks({{1, 1}}))); // there is room again
  }
  SECTION("a closed transport refuses") {
    scene here{make};
    here.all->subject().close();
    CHECK(here.refusal(1, here.blocks({{0, 0}})) == fault::closed);
  }
}

void heeds_gates(const make_bed& make) {
  SECTION("a layer is moved once its gate is open, and not before") {
    scene here{make};
    auto computed = std::make_shared<gate>(), there = std::make_shared<gate>();
    auto layerwise = here.blocks({{0, 1}, {1, 2}});
    layerwise.wait_for = computed;
    layerwise.opens = there;
    REQUIRE(here.submit(1, layerwise));
    for (std::uint32_t layer = 0; layer < small.layers; ++layer) {
      CHECK_FALSE(here.heard.told(move_id{1}));
      CHECK(there->read().level <= layer); // none has come before it was computed
      computed->open_to(layer + 1);
      REQUIRE(there->wait(layer, 1min));
      CHECK(here.arrived({0, 1}, layer));
      CHECK(here.arrived({1, 2}, layer));
    }
    CHECK(here.heard.of(move_id{1}).value() == 2 * small.block_bytes());
  }
  SECTION("a move whose gate was open from the beginning does not wait") {
    scene here{make};
    auto late = here.blocks({{0, 1}});
    late.wait_for = std::make_shared<gate>();
    late.wait_for->open_to(small.layers);
    late.wait_for->fail(); // what was open stays so
    CHECK(here.run(1, late));
  }
  SECTION("a gate of all layers opens by absolute number in a move of some") {
    scene here{make};
    auto last = here.blocks({{0, 1}});
    last.layers = {2, 1};
    last.wait_for = std::make_shared<gate>();
    last.opens = std::make_shared<gate>();
    REQUIRE(here.submit(1, last));
    last.wait_for->open_to(2); // layers 0 and 1
    CHECK_FALSE(here.arrived({0, 1}, 2));
    last.wait_for->open_to(3);
    CHECK(here.heard.of(move_id{1}).value() == small.layer_bytes);
    CHECK(last.opens->read().level == 3);
  }
  SECTION("a move ends when the gate that it waits for fails, and passes it on") {
    scene here{make};
    auto starving = here.blocks({{0, 1}});
    starving.wait_for = std::make_shared<gate>();
    starving.opens = std::make_shared<gate>();
    starving.wait_for->open_to(1);
    REQUIRE(here.submit(1, starving));
    starving.wait_for->fail();
    CHECK(here.heard.fault_of(move_id{1}) == fault::starved);
    CHECK(starving.opens->read().failed);
    CHECK_FALSE(here.arrived({0, 1}, 1));
  }
  SECTION("moves may wait for each other's gates") {
    scene here{make};
    auto first = here.blocks({{0, 1}}), second = here.blocks({{2, 3}});
    first.wait_for = std::make_shared<gate>();
    first.opens = second.wait_for = std::make_shared<gate>();
    REQUIRE(here.submit(2, second));
    REQUIRE(here.submit(1, first));
    first.wait_for->open_to(small.layers);
    CHECK(here.heard.of(move_id{2}).value() == small.block_bytes());
    CHECK(here.heard.of(move_id{1}).value() == small.block_bytes());
  }
}

void ends_early(const make_bed& make) {
  SECTION("a move that takes longer than its limit has timed out") {
    scene here{make};
    auto hasty = here.blocks({{0, 1}});
    hasty.wait_for = std::make_shared<gate>();
    hasty.limit = 1ms;
    REQUIRE(here.submit(1, hasty));
    here.all->let_pass(move_id{1});
    CHECK(here.heard.fault_of(move_id{1}) == fault::timed_out);
    hasty.wait_for->open_to(small.layers);
    CHECK_FALSE(here.arrived({0, 1}, 0)); // it has let go of the memory
  }
  SECTION("an abort is acknowledged by the outcome, and then no memory is touched") {
    scene here{make};
    auto held = here.blocks({{0, 1}});
    held.wait_for = std::make_shared<gate>();
    held.opens = std::make_shared<gate>();
    REQUIRE(here.submit(1, held));
    here.all->subject().abort(move_id{1}, fault::aborted);
    CHECK(here.heard.fault_of(move_id{1}) == fault::aborted);
    CHECK(held.opens->read().failed);
    held.wait_for->open_to(small.layers);
    CHECK_FALSE(here.arrived({0, 1}, 0));
  }
  SECTION("an abort of what has ended, or never was, changes nothing") {
    scene here{make};
    REQUIRE(here.run(1, here.blocks({{0, 1}})));
    here.all->subject().abort(move_id{1}, fault::aborted);
    here.all->subject().abort(move_id{9}, fault::aborted);
    CHECK(here.run(2, here.blocks({{1, 2}})));
    CHECK_FALSE(here.heard.told(move_id{9}));
  }
  SECTION("a transport that is closed tells those who wait") {
    scene here{make};
    for (std::uint64_t id = 1; id <= 3; ++id) {
      auto waiting = here.blocks({{0, 1}});
      waiting.wait_for = std::make_shared<gate>();
      REQUIRE(here.submit(id, waiting));
    }
    here.all->subject().close();
    for (std::uint64_t id = 1; id <= 3; ++id) {
      REQUIRE(here.heard.told(move_id{id})); // by the time it returns
      CHECK(here.heard.fault_of(move_id{id}) == fault::closed);
    }
  }
  SECTION("memory outlives its registration until the last move is told") {
    scene here{make};
    auto fleeting = std::make_unique<memory>(segment_id{9});
    auto life = fleeting->watch_life();
    REQUIRE(here.all->segments().add(fleeting->as_segment()));
    auto waiting = here.blocks({{0, 1}});
    waiting.from = segment_id{9};
    waiting.wait_for = std::make_shared<gate>();
    REQUIRE(here.submit(1, waiting));
    fleeting.reset();
    REQUIRE(here.all->segments().remove(segment_id{9}));
    CHECK(here.refusal(2, waiting) == fault::gone);
    REQUIRE(life.lock());
    waiting.wait_for->open_to(small.layers);
    CHECK(here.heard.of(move_id{1}).value() == small.block_bytes());
    here.all->subject().close();
    CHECK(life.expired());
  }
}

void stands_a_crowd(const make_bed& make) {
  SECTION("callers, openers and aborters in each other's way get one outcome each") {
    scene here{make};
    auto& subject = here.all->subject();
    std::atomic<std::uint64_t> told{0};
    for (std::uint64_t round = 0; round < 50; ++round) {
      auto held = std::make_shared<gate>();
      std::uint64_t taken = 0;
      for (std::uint64_t id = 0; id < bed::outstanding_max; ++id) {
        auto one = here.blocks({{static_cast<std::uint32_t>(id), 7}});
        one.wait_for = id % 2 ? held : nullptr;
        one.urgency = static_cast<priority>(id % priorities);
        taken += subject
                   .submit(move_id{round * 100 + id}, one,
                           [&](move_id, const outcome&) { ++told; })
                   .has_value();
        if (id % 3 == 0)
          subject.abort(move_id{round * 100 + id}, fault::aborted);
      }
      held->open_to(small.layers);
      while (told < taken)
        std::this_thread::yield();
      CHECK(told == taken);
      told = 0;
    }
  }
}

} // namespace

void conforms(const make_bed& make) {
  moves_bytes(make);
  refuses(make);
  heeds_gates(make);
  ends_early(make);
  stands_a_crowd(make);
}

} // namespace perigee::transport::test
