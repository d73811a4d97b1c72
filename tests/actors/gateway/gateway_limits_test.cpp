#include "tests/actors/gateway/stage_set.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a request whose time is over fails, and is cancelled") {
  stage_set at;
  at.how->decode_is_silent = true;
  at.submit(5, 20, 1'000'000'000);
  at.in.advance(2900ms);
  CHECK(at.hears->streams.empty()); // the instances have the first word
  at.in.advance(200ms);
  CHECK(at.hears->error_of(5) == "deadline_exceeded");
  CHECK(at.how->cancels.size() == 3);
  CHECK(at.holds_nothing());
}

TEST_CASE("open requests, and the tokens of their prompts, are limited") {
  options few;
  few.requests_max = 2;
  stage_set at{few};
  for (std::uint64_t stream : {1, 2, 3})
    at.submit(stream);
  at.in.settle();
  CHECK(at.hears->error_of(1).empty());
  CHECK(at.hears->error_of(3) == "queue_full");
  at.withdraw(1);
  at.submit(4);
  at.in.settle();
  CHECK(at.hears->error_of(4).empty());

  options small;
  small.prompt_tokens_max = 30;
  stage_set other{small};
  other.how->decode_is_silent = true; // so that it may have to be placed again
  other.submit(1);
  other.submit(2);
  other.in.settle();
  CHECK(other.hears->error_of(2) == "queue_full");
  other.withdraw(1);
  other.submit(3);
  other.in.settle();
  CHECK(other.hears->error_of(3).empty());
}

TEST_CASE("a prompt with a gap, or without an end, is refused") {
  stage_set at;
  at.submit(1, 10, 0, 0, false);
  at.submit(1, 10, 0, 11, true);
  at.submit(2, 0);
  at.submit(3, 10, 0, 0, false);
  at.in.settle();
  CHECK(at.hears->error_of(1) == "internal_error");
  CHECK(at.hears->error_of(2) == "internal_error");
  at.in.advance(11s);
  CHECK(at.hears->error_of(3) == "internal_error");
  CHECK(at.how->arrived.empty());
  at.submit(4);
  at.in.settle();
  CHECK(at.how->arrived.size() == 1);
}

TEST_CASE("a gateway that drains takes nobody in, and says when it is empty") {
  stage_set at;
  at.submit(5);
  at.in.settle();
  at.in.tell<schema::Drain>(at.gateway, [](auto) {});
  at.submit(6);
  at.in.settle();
  CHECK(at.hears->error_of(6) == "not_ready");
  CHECK_FALSE(at.how->drained);
  at.go_on();
  at.go_on();
  CHECK(at.hears->streams[5].last.end == stream_end::stop);
  CHECK(at.how->drained);
}

TEST_CASE("a gateway that drains is empty, too, once the last draft is gone") {
  auto drains_after = [](auto last_of) {
    stage_set at;
    at.submit(5, 10, 0, 0, false);
    at.in.settle();
    at.in.tell<schema::Drain>(at.gateway, [](auto) {});
    at.in.settle();
    CHECK_FALSE(at.how->drained);
    last_of(at);
    at.in.settle();
    return at.how->drained;
  };
  CHECK(drains_after([](stage_set& at) { at.withdraw(5); }));
  CHECK(drains_after([](stage_set& at) { at.in.advance(11s); }));
  CHECK(drains_after([](stage_set& at) { at.submit(5, 10, 0, 11, true); }));
}

} // namespace
} // namespace perigee::gateway
