#include "transport/local.hpp"

#include "tests/transport/conformance.hpp"
#include "tests/transport/recorder.hpp"

#include <thread>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;
using namespace test;

class threaded_bed final : public bed {
public:
  explicit threaded_bed(std::uint64_t turn_bytes)
    : local_(segments_,
             {.outstanding_max = outstanding_max, .turn_bytes = turn_bytes}) {}

  segment_table& segments() override {
    return segments_;
  }

  transport& subject() override {
    return local_;
  }

  void let_pass(move_id) override {} // it passes by itself

private:
  segment_table segments_;
  local local_;
};

TEST_CASE("the local transport does what every transport does") {
  auto turn_bytes = GENERATE(std::uint64_t{1} << 20, std::uint64_t{50});
  conforms([=] { return std::make_unique<threaded_bed>(turn_bytes); });
}

/// A transport between two segments.
struct two_segments {
  two_segments() {
    REQUIRE(segments.add(from.as_segment()));
    REQUIRE(segments.add(to.as_segment()));
  }

  memory from{segment_id{1}}, to{segment_id{2}, 9};
  segment_table segments;
  recorder heard;
  local subject{segments};
  move what = whole_blocks(segment_id{1}, segment_id{2}, {{0, 1}});
};

TEST_CASE("outcomes are told by a thread of the transport's own, always the same") {
  two_segments all;
  std::vector<std::thread::id> by;
  for (std::uint64_t id = 0; id < 10; ++id)
    REQUIRE(all.subject.submit(move_id{id}, all.what, [&](move_id, const outcome&) {
      by.push_back(std::this_thread::get_id());
    }));
  all.subject.close();
  REQUIRE(by.size() == 10);
  CHECK(std::count(by.begin(), by.end(), by.front()) == 10);
  CHECK(by.front() != std::this_thread::get_id());
}

TEST_CASE("who hears an outcome may submit the next move") {
  two_segments all;
  bool taken = false;
  REQUIRE(all.subject.submit(move_id{1}, all.what, [&](move_id, const outcome&) {
    taken = all.subject.submit(move_id{2}, all.what, all.heard.pen()).has_value();
  }));
  CHECK(all.heard.of(move_id{2}));
  CHECK(taken);
}

TEST_CASE("an urgent move overtakes those that nobody waits for") {
  two_segments all;
  auto held = std::make_shared<gate>();
  REQUIRE(all.subject.submit(move_id{0}, all.what, [=](move_id, const outcome&) {
    static_cast<void>(held->wait(0, 1min)); // keeps the thread until all are in line
  }));
  all.what.urgency = priority::idle;
  for (std::uint64_t id = 1; id <= 3; ++id)
    REQUIRE(all.subject.submit(move_id{id}, all.what, all.heard.pen()));
  all.what.urgency = priority::urgent;
  REQUIRE(all.subject.submit(move_id{9}, all.what, all.heard.pen()));
  held->open_to(1);
  CHECK(all.heard.of(move_id{3}));
  CHECK(all.heard.order()
        == std::vector<move_id>{move_id{9}, move_id{1}, move_id{2}, move_id{3}});
}

} // namespace
} // namespace perigee::transport
