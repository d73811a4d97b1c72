#include "tests/transport/peer_scene.hpp"

namespace perigee::transport::test {
namespace {

using namespace std::chrono_literals;

void admits_by_ticket(const make_pair_bed& make) {
  constexpr peer_id name{7};
  auto lost
    = [&](process& where) { return where.peers.next_of(name, peer_state::lost).why; };
  SECTION("who shows no ticket that is expected is turned away and counted") {
    auto bed = make();
    auto& left = bed->left();
    auto& right = bed->right();
    REQUIRE(left.subject->connect(name, right.subject->here(), connected_pair::key(9)));
    CHECK(lost(left) == loss::turned_away);
    CHECK(comes_true([&] { return right.subject->strangers_total() >= 1; }));
  }
  SECTION("a ticket is good once") {
    connected_pair here{make};
    REQUIRE(here.left().connect(name, here.right().here(), here.key(1)));
    CHECK(lost(here.bed->left()) == loss::turned_away);
    CHECK_FALSE(here.bed->right().peers.told(here.left_name, peer_state::lost));
  }
  SECTION("a ticket that is stale is good no longer, and who did not come is lost") {
    auto bed = make();
    auto& left = bed->left();
    auto& right = bed->right();
    REQUIRE(right.subject->expect(name, connected_pair::key(1), 1ms));
    CHECK(lost(right) == loss::unreachable);
    REQUIRE(left.subject->connect(name, right.subject->here(), connected_pair::key(1)));
    CHECK(lost(left) == loss::turned_away);
  }
  SECTION("a ticket of one that was forgotten is good no longer") {
    auto bed = make();
    auto& left = bed->left();
    auto& right = bed->right();
    REQUIRE(right.subject->expect(name, connected_pair::key(1), 1min));
    right.subject->forget(name);
    right.peers.next_of(name, peer_state::forgotten);
    REQUIRE(left.subject->connect(name, right.subject->here(), connected_pair::key(1)));
    CHECK(lost(left) == loss::turned_away);
  }
  SECTION("where nobody is any more nobody is reached") {
    auto bed = make();
    auto where = bed->right().subject->here();
    bed->right().subject.reset();
    REQUIRE(bed->left().subject->connect(name, where, connected_pair::key(1)));
    CHECK(lost(bed->left()) == loss::unreachable);
  }
  SECTION("what is no endpoint is refused") {
    auto bed = make();
    auto& subject = *bed->left().subject;
    for (auto size :
         {std::size_t{0}, std::size_t{1}, opaque_bytes_max, opaque_bytes_max + 1}) {
      CHECK(
        subject.connect(name, endpoint(size, std::byte{0xff}), connected_pair::key(1))
          .error()
        == fault::refused);
    }
    CHECK(bed->right().subject->here().size() <= opaque_bytes_max);
  }
  SECTION("there are as many peers as may be, until one is forgotten") {
    auto bed = make();
    auto& subject = *bed->left().subject;
    for (std::uint64_t id = 0; id < pair_bed::peers_max; ++id)
      REQUIRE(subject.expect(peer_id{id}, connected_pair::key(1), 1min));
    CHECK(subject.expect(name, connected_pair::key(1), 1min).error() == fault::busy);
    CHECK(subject.connect(name, bed->right().subject->here(), connected_pair::key(1))
            .error()
          == fault::busy);
    subject.forget(peer_id{0});
    bed->left().peers.next_of(peer_id{0}, peer_state::forgotten);
    CHECK(subject.expect(name, connected_pair::key(1), 1min));
  }
  SECTION("a peer that nobody knows is forgotten, too") {
    auto bed = make();
    bed->left().subject->forget(name);
    bed->left().peers.next_of(name, peer_state::forgotten);
  }
  SECTION("a peer is up once, and lost once") {
    connected_pair here{make};
    here.bed->right().subject.reset();
    auto& peers = here.bed->left().peers;
    peers.next_of(here.right_name, peer_state::lost);
    here.left().forget(here.right_name);
    peers.next_of(here.right_name, peer_state::forgotten);
    CHECK(peers.count(here.right_name, peer_state::up) == 1);
    CHECK(peers.count(here.right_name, peer_state::lost) == 1);
  }
}

void learns(const make_pair_bed& make) {
  SECTION("only memory that is registered is described, in few bytes") {
    connected_pair here{make};
    CHECK(here.left().describe(here.left_segment)->size() <= opaque_bytes_max);
    CHECK(here.left().describe(segment_id{77}).error() == fault::gone);
    REQUIRE(here.bed->left().segments.add({segment_id{5}, nullptr, small, 1, {}}));
    CHECK(here.left().describe(segment_id{5}).error() == fault::refused); // no bytes
  }
  SECTION("what is no descriptor is refused") {
    connected_pair here{make};
    auto good = here.right().describe(here.right_segment).value();
    auto longer = good, shorter = good;
    longer.push_back(std::byte{});
    shorter.pop_back();
    for (const auto& bad : {descriptor{}, descriptor(opaque_bytes_max, std::byte{0xff}),
                            descriptor(good.size(), std::byte{0xff}), longer, shorter})
      CHECK(here.left().learn(here.right_name, bad).error() == fault::refused);
    CHECK(here.left().learn(here.right_name, good)); // the same again
  }
  SECTION("a descriptor with a bit changed is refused, or harms nobody") {
    connected_pair here{make};
    auto good = here.right().describe(here.right_segment).value();
    recorder heard;
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      auto bad = good;
      bad[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
      static_cast<void>(here.left().learn(here.right_name, bad));
    }
    REQUIRE(here.left().submit(
      move_id{1}, whole_blocks(here.left_segment, here.right_segment, {{0, 1}}),
      heard.pen()));
    CHECK(heard.of(move_id{1}));
  }
  SECTION("a segment's id names one segment, and none of one's own") {
    connected_pair here{make};
    auto good = here.right().describe(here.right_segment).value();
    CHECK(here.left().learn(peer_id{77}, good).error() == fault::gone);
    auto own = here.left().describe(here.left_segment).value();
    CHECK(here.left().learn(here.right_name, own).error() == fault::refused);
    constexpr peer_id other{8};
    REQUIRE(here.left().expect(other, here.key(3), 1min));
    CHECK(here.left().learn(other, good).error() == fault::refused);
  }
  SECTION("a peer has as many segments as it may") {
    connected_pair here{make};
    for (std::uint64_t id = 1; id < pair_bed::segments_max; ++id) {
      peer_memory more{*here.bed, here.bed->right(), segment_id{50 + id}, 0};
      auto said = here.right().describe(segment_id{50 + id}).value();
      CHECK(here.left().learn(here.right_name, said));
    }
    peer_memory last{*here.bed, here.bed->right(), segment_id{60}, 0};
    auto said = here.right().describe(segment_id{60}).value();
    CHECK(here.left().learn(here.right_name, said).error() == fault::busy);
  }
}

} // namespace

void knows_its_peers(const make_pair_bed& make) {
  admits_by_ticket(make);
  learns(make);
}

} // namespace perigee::transport::test
