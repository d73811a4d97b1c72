#include "tests/transport/peer_scene.hpp"
#include "tests/transport/rdma/links.hpp"
#include "tests/transport/rdma/rdma_bed.hpp"

#include <thread>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;
using namespace test;

constexpr geometry layered{.layer_bytes = std::uint64_t{512} << 10, .layers = 16};

/// A pair whose left side is about to move two blocks of 8 MiB, layer by layer.
struct long_move {
  explicit long_move(way direction, std::size_t nics = 1, rdma::options how = lively())
    : here([=] { return std::make_unique<rdma_bed>(how, nics); }, direction, layered,
           4),
      what(here.blocks({{1, 0}, {3, 2}})) {
    what.layers = {0, layered.layers};
    what.wait_for = std::make_shared<gate>();
    what.opens = std::make_shared<gate>();
  }

  /// Its first half is on its way, and some of that has arrived.
  void begin() {
    what.wait_for->open_to(layered.layers / 2);
    REQUIRE(here.submit(1, what));
    REQUIRE(what.opens->wait(0, 1min));
  }

  void go_on() const {
    what.wait_for->open_to(layered.layers);
  }

  bool all_arrived() const {
    for (std::uint32_t layer = 0; layer < layered.layers; ++layer)
      if (!here.arrived({1, 0}, layer) || !here.arrived({3, 2}, layer))
        return false;
    return true;
  }

  std::vector<rdma::path_report> paths() const {
    return dynamic_cast<const rdma::nic_transport&>(here.left())
      .paths_of(here.right_name);
  }

  /// Waits for it.
  void until(const std::function<bool()>& is_so) const {
    for (auto left = 3000; left > 0 && !is_so(); --left)
      std::this_thread::sleep_for(10ms);
    CHECK(is_so());
  }

  scene here;
  move what;
};

TEST_CASE("a move goes on when its only link comes back") {
  auto direction = GENERATE(way::write, way::read);
  long_move all{direction};
  all.begin();
  cut_link down;
  all.go_on();
  all.until([&] { return !all.paths()[0].is_up; });
  CHECK_FALSE(all.here.heard.told(move_id{1}));
  down.mend();
  CHECK(all.here.heard.of(move_id{1}).value() == 2 * layered.block_bytes());
  CHECK(all.all_arrived());
  CHECK(all.paths()[0].failures_total >= 1);
  CHECK(all.paths()[0].connections_total >= 2);
}

TEST_CASE(
  "a move whose only link stays down ends at its limit, and lets go of memory") {
  auto direction = GENERATE(way::write, way::read);
  long_move all{direction};
  all.what.limit = 2s;
  all.begin();
  cut_link down;
  all.go_on();
  CHECK(all.here.heard.fault_of(move_id{1}) == fault::timed_out);
  all.here.to.fill(std::byte{0x5a});
  down.mend();
  all.until([&] { return all.paths()[0].is_up; });
  CHECK(all.here.to.is_filled(std::byte{0x5a}));
}

TEST_CASE("a peer that no link leads to any more is lost") {
  auto how = lively();
  how.silence_limit = 500ms;
  long_move all{way::write, 1, how};
  all.begin();
  cut_link down;
  all.go_on();
  CHECK(all.here.heard.fault_of(move_id{1}) == fault::peer_lost);
  CHECK(all.here.bed->left().peers.next_of(all.here.right_name, peer_state::lost).why
        == loss::disconnected);
}

TEST_CASE("two links are used at once, and one of them suffices") {
  auto direction = GENERATE(way::write, way::read);
  long_move all{direction, 2};
  all.until([&] { return all.paths()[0].is_up && all.paths()[1].is_up; });
  all.begin();
  {
    cut_link down;
    all.go_on();
    CHECK(all.here.heard.of(move_id{1}).value() == 2 * layered.block_bytes());
    CHECK(all.all_arrived());
    auto paths = all.paths();
    CHECK(paths[0].failures_total == 1);
    CHECK(paths[1].failures_total == 0);
    CHECK(paths[0].bytes_total > 0);
    CHECK(paths[1].bytes_total > 0);
  }
  all.until([&] { return all.paths()[0].is_up; });
  auto before = all.paths()[0].bytes_total;
  std::uint64_t id = 1;
  all.until([&] { // it has keys for that memory anew
    REQUIRE(all.here.run(++id, all.what));
    return all.paths()[0].bytes_total > before;
  });
}

TEST_CASE("bytes arrive whole though one packet in a hundred is lost") {
  auto direction = GENERATE(way::write, way::read);
  auto lost = [] {
    return driver_count("rxe0", "out_of_seq_request")
           + driver_count("rxe1", "out_of_seq_request")
           + driver_count("rxe0", "completer_retry_err")
           + driver_count("rxe1", "completer_retry_err");
  };
  long_move all{direction};
  auto before = lost();
  lossy_link bad{"1%"};
  all.go_on();
  CHECK(all.here.run(1, all.what).value() == 2 * layered.block_bytes());
  CHECK(all.all_arrived());
  CHECK(lost() > before);
}

TEST_CASE("memory that is unregistered under a move fails it alone") {
  auto how = lively();
  how.windows = GENERATE(true, false);
  auto direction = GENERATE(way::write, way::read);
  long_move all{direction, 1, how};
  auto fleeting = std::make_unique<peer_memory>(*all.here.bed, all.here.bed->right(),
                                                segment_id{3}, 7, layered, 4);
  auto life = fleeting->watch_life();
  REQUIRE(all.here.left().learn(all.here.right_name,
                                all.here.right().describe(segment_id{3}).value()));
  auto doomed = all.here.blocks({{1, 1}, {3, 3}}); // into other blocks
  doomed.layers = all.what.layers;
  doomed.wait_for = all.what.wait_for;
  doomed.opens = std::make_shared<gate>();
  all.here.there_of(doomed) = segment_id{3};
  all.begin();
  REQUIRE(all.here.submit(2, doomed));
  REQUIRE(doomed.opens->wait(0, 1min));
  fleeting.reset();
  REQUIRE(all.here.bed->right().segments.remove(segment_id{3}));
  all.go_on();
  CHECK(all.here.heard.fault_of(move_id{2}) == fault::refused);
  all.until([&] { return life.expired(); });
  CHECK(all.here.heard.of(move_id{1}).value() == 2 * layered.block_bytes());
  CHECK(all.all_arrived());
  CHECK(all.here.right().counted_of(connected_pair::left_name)->requests_refused_total
        >= 1);
}

TEST_CASE(
  "segments in many registrations go over two devices, with windows or without") {
  auto how = lively();
  how.windows = GENERATE(true, false);
  how.piece_bytes = 64 << 10;
  how.slice_bytes = 100'000;
  auto direction = GENERATE(way::write, way::read);
  long_move all{direction, 2, how};
  all.go_on();
  CHECK(all.here.run(1, all.what).value() == 2 * layered.block_bytes());
  CHECK(all.all_arrived());
}

} // namespace
} // namespace perigee::transport
