#include "tests/transport/peer_bed.hpp"
#include "transport/shm/shm.hpp"

#include <future>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;
using namespace test;

constexpr segment_id ours{1};

/// A piece is a layer, and a move has several turns' worth of them.
constexpr geometry deep{.layer_bytes = std::uint64_t{256} << 10, .layers = 16};

std::unique_ptr<peer_transport> open(process& one,
                                     const std::shared_ptr<shm::memory>& from) {
  shm::options how;
  how.limits.session.request_bytes = deep.layer_bytes;
  return shm::open(one.segments, from, how, one.peers.pen()).value();
}

/// A process that holds one block.
struct owner : process {
  owner(const std::shared_ptr<shm::memory>& from, segment_id id)
    : bytes(from->allocate(deep.block_bytes())) {
    REQUIRE(segments.add({id, bytes.get(), deep, 1, bytes}));
    subject = open(*this, from);
  }

  std::shared_ptr<std::byte> bytes;
};

/// Reads from two others, and writes down whose layer came when.
struct reader : process {
  explicit reader(const std::shared_ptr<shm::memory>& from) {
    REQUIRE(segments.add(own.as_segment()));
    subject = open(*this, from);
  }

  ~reader() {
    subject->close(); // it writes into what goes next
  }

  void meet(owner& other, segment_id its) {
    auto number = static_cast<unsigned char>(its);
    peer_id name{number};
    REQUIRE(other.subject->expect(peer_id{0}, connected_pair::key(number), 1min));
    REQUIRE(subject->connect(name, other.subject->here(), connected_pair::key(number)));
    peers.next_of(name, peer_state::up);
    REQUIRE(subject->learn(name, other.subject->describe(its).value()));
  }

  /// With `mark` for each layer that has come.
  void read(std::uint64_t id, segment_id from, priority urgency, char mark,
            block_pair pair, layer_range layers = {0, deep.layers}) {
    move what{.from = from, .to = ours, .layers = layers, .pairs = {pair}};
    what.opens = std::make_shared<gate>();
    what.opens->watch([this, mark] { order += mark; });
    what.urgency = urgency;
    REQUIRE(subject->submit(move_id{id}, what, heard.pen()));
  }

  /// Until it is given a value the transport begins nothing, and then all at once.
  auto hold(segment_id elsewhere) {
    std::promise<void> until;
    auto held = until.get_future().share();
    move nothing{.from = elsewhere, .to = ours, .layers = {0, deep.layers}};
    REQUIRE(subject->submit(move_id{0}, nothing,
                            [held](move_id, const outcome&) { held.wait(); }));
    return until;
  }

  memory own{ours, 0, 2, deep};
  recorder heard;
  std::string order; // of the transport's thread, until all is heard
};

TEST_CASE("what is copied here for a less urgent move yields to another peer's") {
  auto from = std::make_shared<shm::memory>();
  constexpr segment_id hurried{50}, patient{60};
  owner first{from, hurried}, second{from, patient};
  reader here{from};
  here.meet(first, hurried);
  here.meet(second, patient);
  for (auto one : {hurried, patient}) { // so that they have been shown
    auto id = static_cast<std::uint64_t>(one);
    here.read(id, one, priority::normal, '-', {0, 0});
    REQUIRE(here.heard.of(move_id{id}));
  }
  here.order.clear();
  auto until = here.hold(hurried);
  here.read(1, hurried, priority::urgent, 'u', {0, 0});
  auto moves = GENERATE(1u, 4u, deep.layers);
  auto layers = deep.layers / moves;
  for (std::uint32_t i = 0; i < moves; ++i)
    here.read(2 + i, patient, priority::idle, 'i', {0, 1}, {i * layers, layers});
  until.set_value();
  for (std::uint32_t i = 0; i <= moves; ++i)
    REQUIRE(here.heard.of(move_id{1 + i}));
  INFO(here.order);
  auto contested = here.order.substr(0, here.order.rfind('u'));
  CHECK(contested.find('i') != std::string::npos);  // it never stands still
  CHECK(contested.find("ii") == std::string::npos); // but a piece is all it has at once
  CHECK(std::ranges::count(here.order, 'i') == deep.layers);
}

} // namespace
} // namespace perigee::transport
