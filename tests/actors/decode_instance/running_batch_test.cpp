#include "actors/decode_instance/running_batch.hpp"

#include <catch2/catch.hpp>

namespace perigee::decode {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a batch has taken as many steps as there was time for") {
  running_batch batch;
  batch.begin({3, 5}, 10ms, 4ms);
  CHECK(batch.steps_by(10ms) == 0);
  CHECK(batch.steps_by(17ms) == 1);
  CHECK(batch.steps_by(50ms) == 10);
}

TEST_CASE("without a batch, or an idea of a step, no steps are taken") {
  running_batch batch;
  CHECK(batch.steps_by(50ms) == 0);
  batch.begin({3}, 10ms, 0ms);
  CHECK(batch.steps_by(50ms) == 0);
  batch.begin({}, 10ms, 4ms);
  CHECK(batch.steps_by(50ms) == 0);
}

TEST_CASE("a batch is the same as long as the same requests are in it") {
  running_batch batch;
  CHECK(batch.is({}));
  batch.begin({3, 5}, 10ms, 4ms);
  CHECK(batch.is({3, 5}));
  CHECK_FALSE(batch.is({3}));
}

} // namespace
} // namespace perigee::decode
