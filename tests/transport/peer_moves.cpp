#include "tests/transport/peer_scene.hpp"

namespace perigee::transport::test {
namespace {

using namespace std::chrono_literals;

void moves_bytes(const make_pair_bed& make, way direction) {
  SECTION("what was asked for is moved, and nothing else") {
    scene here{make, direction};
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
    scene here{make, direction};
    auto some = here.blocks({{3, 4}});
    some.layers = {1, 1};
    CHECK(here.run(1, some).value() == small.layer_bytes);
    CHECK(here.arrived({3, 4}, 1));
    CHECK_FALSE(here.arrived({3, 4}, 0));
    CHECK_FALSE(here.arrived({3, 4}, 2));
  }
  SECTION("a move of no blocks succeeds, waits for nothing, and opens its gate") {
    scene here{make, direction};
    auto none = waiting(here.blocks({}));
    CHECK(here.run(1, none).value() == 0);
    CHECK(none.opens->is_open(small.layers - 1));
  }
  SECTION("a move of no layers succeeds") {
    scene here{make, direction};
    auto none = here.blocks({{0, 0}});
    none.layers = {small.layers, 0};
    CHECK(here.run(1, none).value() == 0);
  }
  SECTION("many scattered slices arrive, each in its place") {
    constexpr geometry odd{.layer_bytes = 77, .layers = 3};
    constexpr std::uint32_t many = 3000;
    scene here{make, direction, odd, many};
    std::vector<block_pair> pairs;
    for (std::uint32_t block = 0; block < many; ++block)
      pairs.push_back({block, (block * 7 + 3) % many});
    auto all = here.blocks(pairs);
    all.opens = std::make_shared<gate>();
    CHECK(here.run(1, all).value() == many * odd.block_bytes());
    CHECK(std::all_of(pairs.begin(), pairs.end(),
                      [&](const block_pair& pair) { return here.arrived(pair); }));
    CHECK(all.opens->read().level == odd.layers);
  }
  SECTION("a block of many megabytes arrives whole") {
    constexpr geometry huge{.layer_bytes = (std::uint64_t{3} << 20) + 13, .layers = 3};
    scene here{make, direction, huge, 2};
    CHECK(here.run(1, here.blocks({{0, 1}})).value() == huge.block_bytes());
    CHECK(here.arrived({0, 1}));
  }
  SECTION("many moves at once arrive, each with its own bytes") {
    scene here{make, direction};
    for (std::uint32_t id = 0; id < pair_bed::outstanding_max; ++id)
      REQUIRE(here.submit(id, here.blocks({{id, (id + 1) % blocks_total}})));
    for (std::uint32_t id = 0; id < pair_bed::outstanding_max; ++id) {
      CHECK(here.heard.of(move_id{id}).value() == small.block_bytes());
      CHECK(here.arrived({id, (id + 1) % blocks_total}));
    }
  }
  SECTION("both sides move at once") {
    scene here{make, direction};
    recorder there;
    auto back = here.blocks({{3, 2}});
    std::swap(back.from, back.to);
    for (std::uint64_t round = 0; round < 100; ++round) {
      REQUIRE(here.submit(round, here.blocks({{0, 1}})));
      REQUIRE(here.right().submit(move_id{round}, back, there.pen()));
      CHECK(here.heard.of(move_id{round}));
      CHECK(there.of(move_id{round}));
    }
    CHECK(here.arrived({0, 1}));
    CHECK(here.to.layer(3, 0) == here.from.layer(2, 0));
  }
  SECTION("what was done is counted, in all and for the peer") {
    scene here{make, direction};
    REQUIRE(here.run(1, here.blocks({{0, 0}, {1, 1}})));
    REQUIRE(here.run(2, here.blocks({{2, 2}})));
    static_cast<void>(here.refusal(3, here.blocks({{blocks_total, 0}})));
    auto counts = here.left().counted();
    CHECK(counts.moves_total == 2);
    CHECK(counts.bytes_total == 3 * small.block_bytes());
    CHECK(counts.of(fault::out_of_range) == 1);
    CHECK(counts.of(fault::gone) == 0);
    auto of_peer = here.left().counted_of(connected_pair::right_name);
    REQUIRE(of_peer);
    CHECK(of_peer->moves.moves_total == 2);
    CHECK(of_peer->moves.bytes_total == 3 * small.block_bytes());
    CHECK_FALSE(here.left().counted_of(peer_id{7}));
  }
}

void refuses(const make_pair_bed& make, way direction) {
  SECTION("a segment that nobody has told of is gone") {
    scene here{make, direction};
    auto lost = here.blocks({{0, 0}});
    here.there_of(lost) = segment_id{77};
    CHECK(here.refusal(1, lost) == fault::gone);
    lost = here.blocks({{0, 0}});
    here.here_of(lost) = segment_id{77};
    CHECK(here.refusal(2, lost) == fault::gone);
  }
  SECTION("a move within this process is not a peer transport's") {
    scene here{make, direction};
    auto inside = here.blocks({{0, 1}});
    here.there_of(inside) = here.here_of(inside);
    CHECK(here.refusal(1, inside) == fault::gone);
  }
  SECTION("a block that is not there is out of range, at either end") {
    scene here{make, direction};
    CHECK(here.refusal(1, here.blocks({{0, 0}, {0, blocks_total}}))
          == fault::out_of_range);
    CHECK(here.refusal(2, here.blocks({{0xffffffff, 0}})) == fault::out_of_range);
    CHECK_FALSE(here.arrived({0, 0}, 0)); // found before anything was touched
  }
  SECTION("a layer that is not there is out of range, whatever the numbers") {
    scene here{make, direction};
    for (auto layers : {layer_range{0, small.layers + 1}, layer_range{small.layers, 1},
                        layer_range{2, 0xffffffff}, layer_range{0xffffffff, 2}}) {
      auto wrong = here.blocks({{0, 0}});
      wrong.layers = layers;
      CHECK(here.refusal(1, wrong) == fault::out_of_range);
    }
  }
  SECTION("segments of unequal geometry don't fit") {
    scene here{make, direction};
    peer_memory unlike{*here.bed, here.bed->left(), segment_id{3}, 0,
                       geometry{.layer_bytes = 128, .layers = 3}};
    auto wrong = here.blocks({{0, 0}});
    here.here_of(wrong) = segment_id{3};
    CHECK(here.refusal(1, wrong) == fault::out_of_range);
  }
  SECTION("who comes when all places are taken is told that it is busy") {
    scene here{make, direction};
    auto held = std::make_shared<gate>();
    for (std::uint64_t id = 0; id < pair_bed::outstanding_max; ++id) {
      auto one = here.blocks({{0, static_cast<std::uint32_t>(id)}});
      one.wait_for = held;
      REQUIRE(here.submit(id, one));
    }
    CHECK(here.refusal(99, here.blocks({{1, 1}})) == fault::busy);
    held->open_to(small.layers);
    for (std::uint64_t id = 0; id < pair_bed::outstanding_max; ++id)
      CHECK(here.heard.of(move_id{id}));
    CHECK(here.run(99, here.blocks({{1, 1}}))); // there is room again
  }
  SECTION("a closed transport refuses") {
    scene here{make, direction};
    here.left().close();
    CHECK(here.refusal(1, here.blocks({{0, 0}})) == fault::closed);
    CHECK(here.left().expect(peer_id{5}, here.key(5), 1s).error() == fault::closed);
    CHECK(here.left().connect(peer_id{6}, here.right().here(), here.key(5)).error()
          == fault::closed);
  }
  SECTION("what its owner has unregistered is not reached, and nothing else is hurt") {
    scene here{make, direction};
    peer_memory other{*here.bed, here.bed->right(), segment_id{3}, 5};
    REQUIRE(here.left().learn(connected_pair::right_name,
                              here.right().describe(segment_id{3}).value()));
    REQUIRE(here.bed->right().segments.remove(segment_id{3}));
    auto late = here.blocks({{0, 1}});
    late.opens = std::make_shared<gate>();
    here.there_of(late) = segment_id{3};
    CHECK(here.run(1, late).error() == fault::refused);
    CHECK(late.opens->read().failed);
    CHECK(here.run(2, here.blocks({{0, 1}})));
    CHECK(here.right().counted_of(connected_pair::left_name)->requests_refused_total
          >= 1);
    CHECK(here.left().counted().of(fault::refused) == 1);
  }
}

void heeds_gates(const make_pair_bed& make, way direction) {
  SECTION("a layer is moved once its gate is open, and not before") {
    scene here{make, direction};
    auto layerwise = waiting(here.blocks({{0, 1}, {1, 2}}));
    REQUIRE(here.submit(1, layerwise));
    for (std::uint32_t layer = 0; layer < small.layers; ++layer) {
      CHECK_FALSE(here.heard.told(move_id{1}));
      CHECK(layerwise.opens->read().level <= layer); // none before it was computed
      layerwise.wait_for->open_to(layer + 1);
      REQUIRE(layerwise.opens->wait(layer, 1min));
      CHECK(here.arrived({0, 1}, layer));
      CHECK(here.arrived({1, 2}, layer));
    }
    CHECK(here.heard.of(move_id{1}).value() == 2 * small.block_bytes());
  }
  SECTION("layers open in order though they are large and many are under way") {
    constexpr geometry large{.layer_bytes = std::uint64_t{1} << 20, .layers = 8};
    scene here{make, direction, large, 2};
    auto layerwise = here.blocks({{0, 1}});
    layerwise.layers = {0, large.layers};
    layerwise.opens = std::make_shared<gate>();
    REQUIRE(here.submit(1, layerwise));
    for (std::uint32_t layer = 0; layer < large.layers; ++layer) {
      REQUIRE(layerwise.opens->wait(layer, 1min));
      CHECK(here.arrived({0, 1}, layer));
    }
    CHECK(here.heard.of(move_id{1}).value() == large.block_bytes());
  }
  SECTION("a move whose gate was open from the beginning does not wait") {
    scene here{make, direction};
    auto late = waiting(here.blocks({{0, 1}}));
    late.wait_for->open_to(small.layers);
    late.wait_for->fail(); // what was open stays so
    CHECK(here.run(1, late));
  }
  SECTION("a gate of all layers opens by absolute number in a move of some") {
    scene here{make, direction};
    auto last = waiting(here.blocks({{0, 1}}));
    last.layers = {2, 1};
    REQUIRE(here.submit(1, last));
    last.wait_for->open_to(2); // layers 0 and 1
    CHECK_FALSE(here.arrived({0, 1}, 2));
    last.wait_for->open_to(3);
    CHECK(here.heard.of(move_id{1}).value() == small.layer_bytes);
    CHECK(last.opens->read().level == 3);
  }
  SECTION("a move ends when the gate that it waits for fails, and passes it on") {
    scene here{make, direction};
    auto starving = waiting(here.blocks({{0, 1}}));
    starving.wait_for->open_to(1);
    REQUIRE(here.submit(1, starving));
    starving.wait_for->fail();
    CHECK(here.heard.fault_of(move_id{1}) == fault::starved);
    CHECK(starving.opens->read().failed);
    CHECK_FALSE(here.arrived({0, 1}, 1));
  }
}

void keeps_to_rates(const make_pair_bed& make, way direction) {
  constexpr geometry large{.layer_bytes = std::uint64_t{1} << 20, .layers = 3};
  constexpr rates a_byte_a_second{1, 1};
  SECTION("what is slowed down does not hold up the other way, and goes on when let") {
    scene here{make, direction, large, 2};
    here.left().set_rates(connected_pair::right_name,
                          here.is_write ? rates{1, 0} : rates{0, 1});
    auto back = here.blocks({{0, 1}});
    std::swap(back.from, back.to);
    REQUIRE(here.submit(1, here.blocks({{0, 1}})));
    CHECK(here.run(2, back));
    CHECK_FALSE(here.heard.told(move_id{1}));
    here.left().set_rates(connected_pair::right_name, {});
    CHECK(here.heard.of(move_id{1}).value() == large.block_bytes());
    CHECK(here.arrived({0, 1}));
  }
  SECTION("what waits for its turn ends when it is aborted, or overdue") {
    scene here{make, direction, large, 2};
    here.left().set_rates(connected_pair::right_name, a_byte_a_second);
    REQUIRE(here.submit(1, here.blocks({{0, 1}})));
    auto hasty = here.blocks({{1, 0}});
    hasty.limit = 1ms;
    CHECK(here.submit(2, hasty));
    CHECK(here.heard.fault_of(move_id{2}) == fault::timed_out);
    here.left().abort(move_id{1});
    CHECK(here.heard.fault_of(move_id{1}) == fault::aborted);
  }
  SECTION("rates of who is not known are none of ours") {
    scene here{make, direction};
    here.left().set_rates(peer_id{4711}, a_byte_a_second);
    CHECK(here.run(1, here.blocks({{0, 1}})));
  }
}

} // namespace

void moves_between_processes(const make_pair_bed& make, way direction) {
  moves_bytes(make, direction);
  refuses(make, direction);
  heeds_gates(make, direction);
  keeps_to_rates(make, direction);
}

} // namespace perigee::transport::test
