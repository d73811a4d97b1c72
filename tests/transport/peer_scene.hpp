/// \file
/// What the conformance tests of peer transports share.
#pragma once

#include "tests/transport/peer_bed.hpp"

namespace perigee::transport::test {

enum class way { write, read };

/// A connected pair, and what a test says of moves that the left one submits.
struct scene : connected_pair {
  scene(const make_pair_bed& make, way direction, geometry shape = small,
        std::uint32_t blocks = blocks_total)
    : connected_pair(make, shape, blocks), is_write(direction == way::write),
      from(is_write ? left_memory : right_memory),
      to(is_write ? right_memory : left_memory) {}

  ~scene() {
    if (auto& subject = bed->left().subject) {
      subject->close();
      CHECK(subject->counted().outstanding == 0);
    }
    CHECK_FALSE(heard.any_twice());
  }

  move blocks(std::vector<block_pair> pairs) const {
    return whole_blocks(is_write ? left_segment : right_segment,
                        is_write ? right_segment : left_segment, std::move(pairs));
  }

  segment_id& here_of(move& what) const {
    return is_write ? what.from : what.to;
  }

  segment_id& there_of(move& what) const {
    return is_write ? what.to : what.from;
  }

  result<void, fault> submit(std::uint64_t id, move what) {
    return left().submit(move_id{id}, std::move(what), heard.pen());
  }

  outcome run(std::uint64_t id, move what) {
    bool is_taken = submit(id, std::move(what)).has_value();
    REQUIRE(is_taken);
    return heard.of(move_id{id});
  }

  fault refusal(std::uint64_t id, move what) {
    auto said = submit(id, std::move(what));
    REQUIRE_FALSE(said);
    CHECK_FALSE(heard.told(move_id{id}));
    return said.error();
  }

  bool arrived(block_pair pair, std::uint32_t layer) const {
    return to.has(pair, layer, from);
  }

  bool arrived(block_pair pair) const {
    return arrived(pair, 0) && arrived(pair, 1) && arrived(pair, 2);
  }

  bool is_write;
  peer_memory& from;
  peer_memory& to;
  recorder heard;
};

inline move waiting(move what) {
  what.wait_for = std::make_shared<gate>();
  what.opens = std::make_shared<gate>();
  return what;
}

/// The parts of conforms().
void moves_between_processes(const make_pair_bed& make, way direction);
void survives_ends(const make_pair_bed& make, way direction);
void knows_its_peers(const make_pair_bed& make);

} // namespace perigee::transport::test
