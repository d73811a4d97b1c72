#include "tests/transport/tcp/raw_peer.hpp"
#include "transport/streams/peer_book.hpp"
#include "transport/tcp/tcp.hpp"

#include <limits>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;
using namespace test;
using streams::frame;
using streams::frame_kind;

constexpr segment_id shown{1}, hidden{2}, theirs{3};
constexpr peer_id name{5};
constexpr auto end_of_numbers = std::numeric_limits<std::uint64_t>::max();

/// How long a transport waits for strangers, and for peers.
struct patience {
  std::chrono::nanoseconds with_strangers = 1min;
  std::chrono::nanoseconds with_peers = 1min;
};

/// A transport, and memory that peers may reach.
struct victim : process {
  explicit victim(patience how_long = {}) {
    tcp::options how;
    how.limits.reception.greeting_limit = how_long.with_strangers;
    how.limits.reception.strangers_max = 3;
    how.limits.session.silence_limit = how_long.with_peers;
    subject = tcp::open(segments, how, peers.pen()).value();
    REQUIRE(segments.add(visible.as_segment()));
    REQUIRE(segments.add(secret.as_segment()));
    REQUIRE(subject->describe(shown));
  }

  raw_peer stranger() const {
    return raw_peer{subject->here()};
  }

  /// One that has shown its ticket.
  raw_peer guest() {
    auto key = connected_pair::key(7);
    REQUIRE(subject->expect(name, key, 1min));
    auto made = stranger();
    made.come_in(key);
    peers.next_of(name, peer_state::up);
    return made;
  }

  loss why_lost() {
    return peers.next_of(name, peer_state::lost).why;
  }

  memory visible{shown, 1}, secret{hidden, 2};
};

frame request(frame_kind kind, segment_id which, std::vector<slice> slices) {
  return {.kind = kind, .number = 9, .from = which, .to = which, .slices = slices};
}

constexpr auto whole = blocks_total * small.layer_bytes * small.layers;

// -- strangers ----------------------------------------------------------------

TEST_CASE("a stranger who talks nonsense is cut off and counted, and hurts nobody") {
  victim here;
  auto guest = here.guest();
  auto stranger = here.stranger();
  stranger.say(std::string(4096, 'G'));
  CHECK(stranger.is_cut_off());
  CHECK(here.subject->strangers_total() == 1);
  guest.say(request(frame_kind::get, shown, {{0, 0, 64}}));
  CHECK(guest.hear_frame().kind == frame_kind::data);
}

TEST_CASE("who says half a hello, or nothing, is cut off in time") {
  victim here{{.with_strangers = 50ms}};
  auto silent = here.stranger(), halting = here.stranger();
  auto greeting = streams::write(streams::hello{});
  halting.say(std::vector<std::byte>(greeting.begin(), greeting.begin() + 20));
  CHECK(silent.is_cut_off());
  CHECK(halting.is_cut_off());
  CHECK(here.subject->strangers_total() == 2);
}

TEST_CASE("when too many stand at the door the oldest has to go") {
  victim here;
  std::vector<raw_peer> crowd;
  for (int i = 0; i < 20; ++i)
    crowd.push_back(here.stranger());
  CHECK(crowd.front().is_cut_off());
  auto guest = here.guest(); // there is room for one who belongs here
  guest.say(request(frame_kind::get, shown, {{0, 0, 64}}));
  CHECK(guest.hear_frame().kind == frame_kind::data);
}

TEST_CASE("another version, or an index that is none, is turned away") {
  victim here;
  REQUIRE(here.subject->expect(name, connected_pair::key(7), 1min));
  auto good = streams::write(streams::hello{.shown = connected_pair::key(7)});
  auto changed = [&](std::size_t at, unsigned char to) {
    auto made = good;
    made[at] = std::byte{to};
    return made;
  };
  for (const auto& bad : {changed(8, 99), changed(10, 1), changed(11, 0),
                          changed(11, streams::links_max + 1), changed(12, 1)}) {
    auto stranger = here.stranger();
    stranger.say(bad);
    auto said = stranger.hear(streams::welcome_bytes);
    CHECK(
      streams::read_welcome(std::span<const std::byte, streams::welcome_bytes>{said})
      == false);
    CHECK(stranger.is_cut_off());
  }
  CHECK_FALSE(here.peers.told(name, peer_state::lost)); // it may still come
}

// -- peers that are wrong -----------------------------------------------------

TEST_CASE("well-formed requests for what is not there are refused, and no more") {
  victim here;
  auto guest = here.guest();
  std::vector<frame> wrong{
    request(frame_kind::put, hidden, {{0, 0, 64}}),
    request(frame_kind::get, hidden, {{0, 0, 64}}),
    request(frame_kind::put, segment_id{77}, {{0, 0, 64}}),
    request(frame_kind::get, shown, {{whole, 0, 1}}),
    request(frame_kind::get, shown, {{0, 0, 64}, {whole - 63, 0, 64}}),
    request(frame_kind::put, shown, {{0, whole - 63, 64}}),
    request(frame_kind::put, shown, {{0, end_of_numbers - 64, 64}}),
    request(frame_kind::get, shown, {{end_of_numbers - 64, 0, 64}}),
  };
  auto before = here.visible.layer(0, 0);
  for (const auto& one : wrong) {
    guest.say(one);
    if (one.kind == frame_kind::put)
      guest.say(std::vector<std::byte>(one.slice_bytes(), std::byte{0xee}));
    auto answer = guest.hear_frame();
    CHECK(answer.kind == frame_kind::refused);
    CHECK(answer.number == one.number);
  }
  CHECK(here.visible.layer(0, 0) == before);
  CHECK(here.subject->counted_of(name)->requests_refused_total == wrong.size());
  guest.say(request(frame_kind::put, shown, {{0, 64, 64}}));
  guest.say(std::vector<std::byte>(64, std::byte{0xee}));
  CHECK(guest.hear_frame().kind == frame_kind::done);
  CHECK(here.visible.layer(0, 1) == std::vector<std::byte>(64, std::byte{0xee}));
  CHECK(here.visible.layer(0, 0) == before);
  auto counts = here.subject->counted_of(name);
  CHECK(counts->bytes_written_total == 64);
}

TEST_CASE("who breaks the protocol is lost as unsound") {
  std::vector<slice> many(streams::slices_max + 1, slice{0, 0, 1});
  std::vector<frame> broken{
    request(static_cast<frame_kind>(99), shown, {}),
    request(frame_kind::put, shown, {}),
    request(frame_kind::get, shown, many),
    request(frame_kind::put, shown, {{0, 0, 0}}),
    request(frame_kind::put, shown, {{0, 0, streams::request_bytes_max + 1}}),
    request(frame_kind::get, shown,
            {{0, 0, streams::request_bytes_max}, {0, 0, streams::request_bytes_max}}),
    request(frame_kind::get, shown, {{end_of_numbers, 0, 64}}),
    request(frame_kind::put, shown, {{0, 0, end_of_numbers}}),
    request(frame_kind::done, shown, {}), // nobody has asked
    request(frame_kind::data, shown, {}),
    request(frame_kind::refused, shown, {}),
    request(frame_kind::ask, shown, {}), // of other back ends
    request(frame_kind::copy, shown, {{0, 0, 64}}),
  };
  for (const auto& one : broken) {
    victim here;
    auto guest = here.guest();
    guest.say(one);
    CHECK(here.why_lost() == loss::unsound);
    CHECK(guest.is_cut_off());
  }
}

TEST_CASE("who asks for more at once than it may is lost, not served from memory") {
  victim here;
  memory large{
    segment_id{8}, 0, 1, {.layer_bytes = streams::request_bytes_max, .layers = 1}};
  REQUIRE(here.segments.add(large.as_segment()));
  REQUIRE(here.subject->describe(segment_id{8}));
  auto guest = here.guest();
  auto one = streams::write(
    request(frame_kind::get, segment_id{8}, {{0, 0, streams::request_bytes_max}}));
  for (int i = 0; i < 200; ++i)
    static_cast<void>(guest.try_to_say(one)); // and never listens
  CHECK(here.why_lost() == loss::unsound);
}

TEST_CASE("a peer that owes an answer and says nothing is lost as silent") {
  victim here{{.with_peers = 50ms}};
  auto guest = here.guest();
  memory there{theirs};
  REQUIRE(here.subject->learn(name, streams::describe_segment(there.as_segment())));
  recorder heard;
  auto is_write = GENERATE(true, false);
  REQUIRE(here.subject->submit(
    move_id{1},
    whole_blocks(is_write ? shown : theirs, is_write ? theirs : shown, {{0, 1}}),
    heard.pen()));
  CHECK(heard.fault_of(move_id{1}) == fault::peer_lost);
  CHECK(here.why_lost() == loss::silent);
  CHECK(guest.is_cut_off());
}

TEST_CASE("a limit that passes at a silent peer ends the move, if with the peer") {
  victim here{{.with_peers = 50ms}};
  auto guest = here.guest();
  memory there{theirs};
  REQUIRE(here.subject->learn(name, streams::describe_segment(there.as_segment())));
  recorder heard;
  auto hasty = whole_blocks(shown, theirs, {{0, 1}});
  hasty.limit = 1ms;
  REQUIRE(here.subject->submit(move_id{1}, hasty, heard.pen()));
  CHECK(heard.fault_of(move_id{1}) == fault::peer_lost);
}

TEST_CASE("an answer of the wrong kind is unsound") {
  victim here;
  auto guest = here.guest();
  memory there{theirs};
  REQUIRE(here.subject->learn(name, streams::describe_segment(there.as_segment())));
  recorder heard;
  REQUIRE(here.subject->submit(move_id{1}, whole_blocks(shown, theirs, {{0, 1}}),
                               heard.pen()));
  guest.say(frame{.kind = frame_kind::data, .number = 1});
  CHECK(here.why_lost() == loss::unsound);
  CHECK(heard.fault_of(move_id{1}) == fault::peer_lost);
}

} // namespace
} // namespace perigee::transport
