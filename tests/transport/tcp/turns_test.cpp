#include "tests/transport/tcp/raw_peer.hpp"
#include "transport/streams/peer_book.hpp"
#include "transport/tcp/tcp.hpp"

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;
using namespace test;
using streams::frame;
using streams::frame_kind;

constexpr segment_id ours{1};

/// A transport that asks for one layer at a time, and peers that answer when told.
struct reader : process {
  reader() {
    tcp::options how;
    how.limits.session.request_bytes = small.layer_bytes;
    subject = tcp::open(segments, how, peers.pen()).value();
    REQUIRE(segments.add(own.as_segment()));
  }

  ~reader() {
    subject->close(); // it writes into what goes next
  }

  void read(std::uint64_t id, segment_id from, priority urgency, block_pair which) {
    auto what = whole_blocks(from, ours, {which});
    what.urgency = urgency;
    REQUIRE(subject->submit(move_id{id}, what, heard.pen()));
  }

  memory own{ours, 1};
  recorder heard;
};

/// With memory of its own.
struct asked_peer {
  asked_peer(reader& by, std::uint8_t number)
    : name{number}, there{segment_id{number}}, way{by.subject->here()} {
    auto key = connected_pair::key(number);
    REQUIRE(by.subject->expect(name, key, 1min));
    way.come_in(key);
    by.peers.next_of(name, peer_state::up);
    REQUIRE(by.subject->learn(name, streams::describe_segment(there.as_segment())));
  }

  segment_id segment() const {
    return there.as_segment().id;
  }

  /// Where in its memory the next request reads.
  std::uint64_t next_offset() {
    last = way.hear_frame();
    CHECK(last.kind == frame_kind::get);
    return last.slices.at(0).from;
  }

  void answer() {
    way.say(frame{.kind = frame_kind::data, .number = last.number});
    way.say(std::vector<std::byte>(small.layer_bytes));
  }

  peer_id name;
  memory there;
  raw_peer way;
  frame last{};
};

constexpr auto block_bytes = small.layer_bytes * small.layers;

TEST_CASE("what is idle keeps one request under way while another peer's is urgent") {
  reader here;
  asked_peer hurried{here, 5}, patient{here, 6};
  here.read(1, hurried.segment(), priority::urgent, {0, 1});
  CHECK(hurried.next_offset() == 0);
  here.read(2, patient.segment(), priority::idle, {0, 2});
  CHECK(patient.next_offset() == 0);

  // Had more been asked for by now, it would come before this.
  here.read(3, patient.segment(), priority::urgent, {4, 3});
  CHECK(patient.next_offset() == 4 * block_bytes);
}

TEST_CASE("nobody waits for ever: an answer lets the next of the idle ones go") {
  reader here;
  asked_peer hurried{here, 5}, patient{here, 6};
  here.read(1, hurried.segment(), priority::urgent, {0, 1});
  CHECK(hurried.next_offset() == 0);
  here.read(2, patient.segment(), priority::idle, {0, 2});
  for (std::uint64_t layer = 0; layer < small.layers; ++layer) {
    CHECK(patient.next_offset() == layer * small.layer_bytes);
    patient.answer();
  }
  CHECK(here.heard.of(move_id{2}).value() == block_bytes);
}

TEST_CASE("what was idle goes on at once when what was urgent has ended") {
  reader here;
  asked_peer hurried{here, 5}, patient{here, 6};
  here.read(1, hurried.segment(), priority::urgent, {0, 1});
  here.read(2, patient.segment(), priority::idle, {0, 2});
  CHECK(patient.next_offset() == 0);
  for (std::uint64_t layer = 0; layer < small.layers; ++layer)
    hurried.next_offset();
  here.subject->forget(hurried.name);
  CHECK(here.heard.fault_of(move_id{1}) == fault::peer_lost);
  CHECK(patient.next_offset() == small.layer_bytes);
}

} // namespace
} // namespace perigee::transport
