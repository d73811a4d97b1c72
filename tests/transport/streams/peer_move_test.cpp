#include "transport/streams/peer_move.hpp"

#include <catch2/catch.hpp>

namespace perigee::transport::streams {
namespace {

constexpr geometry shape{.layer_bytes = 100, .layers = 3};

move two_blocks() {
  move what;
  what.layers = {0, shape.layers};
  what.pairs = {{0, 4}, {2, 1}};
  return what;
}

std::vector<piece> all_pieces(peer_move& of, std::uint64_t bytes_max,
                              std::size_t slices_max) {
  std::vector<piece> found;
  while (of.look() == peer_move::state::ready)
    found.push_back(of.next(bytes_max, slices_max));
  return found;
}

TEST_CASE("pieces have as many bytes and slices as they may, and are all of the move") {
  peer_move subject{two_blocks(), shape};
  auto pieces = all_pieces(subject, 250, 256);
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[0].slices == std::vector<slice>{{0, 1200, 250}});
  CHECK(pieces[1].slices == std::vector<slice>{{250, 1450, 50}, {600, 300, 200}});
  CHECK(pieces[2].bytes == 100);
  peer_move by_one{two_blocks(), shape};
  CHECK(all_pieces(by_one, 1000, 1).size() == 2);
}

TEST_CASE("a layer opens once all of it has landed, and all before, in any order") {
  auto what = two_blocks();
  what.opens = std::make_shared<gate>();
  peer_move subject{what, shape};
  auto pieces = all_pieces(subject, 1000, 256);
  REQUIRE(pieces.size() == 3); // one a layer
  subject.landed(pieces[1]);
  CHECK(what.opens->read().level == 0);
  subject.landed(pieces[0]);
  CHECK(what.opens->read().level == 2);
  CHECK(subject.is_under_way());
  subject.landed(pieces[2]);
  CHECK(what.opens->read().level == 3);
  CHECK_FALSE(subject.is_under_way());
  CHECK(subject.end({}).value() == 600);
}

TEST_CASE("once a piece is missed no further layer opens, though others land") {
  auto what = two_blocks();
  what.opens = std::make_shared<gate>();
  peer_move subject{what, shape};
  auto pieces = all_pieces(subject, 1000, 256);
  subject.landed(pieces[0]);
  subject.missed(pieces[1]);
  subject.landed(pieces[2]);
  CHECK(what.opens->read().level == 1);
  CHECK_FALSE(subject.is_under_way());
  CHECK(subject.end(fault::refused).error() == fault::refused);
  CHECK(what.opens->read().failed);
}

TEST_CASE("a layer that is not computed yet is no piece") {
  auto what = two_blocks();
  what.wait_for = std::make_shared<gate>();
  peer_move subject{what, shape};
  CHECK(subject.look() == peer_move::state::waiting);
  what.wait_for->open_to(1);
  CHECK(all_pieces(subject, 1000, 256).size() == 1);
  CHECK(subject.look() == peer_move::state::waiting);
  what.wait_for->fail();
  CHECK(subject.look() == peer_move::state::starved);
}

} // namespace
} // namespace perigee::transport::streams
