#include "transport/inline_local.hpp"

#include "tests/transport/conformance.hpp"
#include "tests/transport/recorder.hpp"

namespace perigee::transport {
namespace {

using namespace test;

class inline_bed final : public bed {
public:
  segment_table& segments() override {
    return segments_;
  }

  transport& subject() override {
    return local_;
  }

  void let_pass(move_id id) override {
    local_.abort(id, fault::timed_out); // who keeps the time says so
  }

private:
  segment_table segments_;
  inline_local local_{segments_, outstanding_max};
};

TEST_CASE("the inline transport does what every transport does") {
  conforms([] { return std::make_unique<inline_bed>(); });
}

struct pair_of_segments {
  pair_of_segments() {
    REQUIRE(segments.add(from.as_segment()));
    REQUIRE(segments.add(to.as_segment()));
  }

  move one_block() const {
    return whole_blocks(segment_id{1}, segment_id{2}, {{0, 1}});
  }

  memory from{segment_id{1}}, to{segment_id{2}, 9};
  segment_table segments;
  inline_local subject{segments};
  recorder heard;
};

TEST_CASE("a move that nothing holds back is told before submit returns") {
  pair_of_segments all;
  REQUIRE(all.subject.submit(move_id{1}, all.one_block(), all.heard.pen()));
  CHECK(all.heard.told(move_id{1}));
}

TEST_CASE("a move is told within the call that opens its last layer") {
  pair_of_segments all;
  auto what = all.one_block();
  what.wait_for = std::make_shared<gate>();
  REQUIRE(all.subject.submit(move_id{1}, what, all.heard.pen()));
  what.wait_for->open_to(small.layers - 1);
  CHECK_FALSE(all.heard.told(move_id{1}));
  what.wait_for->open_to(small.layers);
  CHECK(all.heard.told(move_id{1}));
}

TEST_CASE("a move may be aborted by whoever hears its own first layer come") {
  pair_of_segments all;
  auto what = all.one_block();
  what.opens = std::make_shared<gate>();
  what.opens->watch([&] { all.subject.abort(move_id{1}, fault::aborted); });
  REQUIRE(all.subject.submit(move_id{1}, what, all.heard.pen()));
  CHECK(all.heard.fault_of(move_id{1}) == fault::aborted);
  CHECK_FALSE(all.heard.any_twice());
  CHECK(all.subject.counted().outstanding == 0);
}

TEST_CASE("a gate that outlives the transport finds nobody") {
  auto held = std::make_shared<gate>();
  {
    pair_of_segments all;
    auto what = all.one_block();
    what.wait_for = held;
    REQUIRE(all.subject.submit(move_id{1}, what, all.heard.pen()));
    all.subject.close();
  }
  held->open_to(small.layers);
  CHECK(held->read().level == small.layers);
}

} // namespace
} // namespace perigee::transport
