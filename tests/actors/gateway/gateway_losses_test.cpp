#include "tests/actors/gateway/stage_set.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a request whose group is lost before its first token is placed again") {
  stage_set at;
  at.how->decode_is_silent = true;
  at.submit(5);
  at.in.settle();
  at.how->prefill = 1;
  at.how->decode_is_silent = false;
  at.in.advance(10ms);
  at.lose<prefill_double>(schema::Role::PREFILL, 0);
  at.in.settle();
  REQUIRE(at.how->arrived.size() == 2);
  CHECK(at.how->arrived[0] != at.how->arrived[1]);
  CHECK(at.how->prompts[at.how->arrived[1]].size() == 20);
  CHECK(at.how->cancels == std::multiset<std::string>{"conductor", "decode.0"});
  at.go_on();
  at.go_on();
  auto& heard = at.hears->streams[5];
  CHECK(heard.tokens == std::vector<engine::token_id>{7, 8, 9});
  CHECK((*heard.last.stages)[stage::placement] == 10ms + 5ns); // the first attempt, too
  CHECK(at.counts->placed_again_total() == 1);
  CHECK(at.holds_nothing());
}

TEST_CASE("a lost decode instance ends what had begun, and no more") {
  stage_set at;
  at.submit(5);
  at.in.settle();
  at.how->decode = 1;
  at.lose<decode_double>(schema::Role::DECODE, 0);
  at.in.settle();
  CHECK(at.hears->error_of(5) == "actor_lost");
  CHECK(at.how->cancels == std::multiset<std::string>{"conductor", "prefill.0"});
  CHECK(at.how->arrived.size() == 1);
  CHECK(at.holds_nothing());
}

TEST_CASE("a lost group leaves what has begun to the decode instance") {
  stage_set at;
  at.submit(5);
  at.in.settle();
  at.lose<prefill_double>(schema::Role::PREFILL, 0);
  at.in.settle();
  at.go_on();
  at.go_on();
  CHECK(at.hears->streams[5].last.end == stream_end::stop);
  CHECK(at.holds_nothing());
}

TEST_CASE("requests wait for a rejector's or a conductor's successor") {
  for (bool rejector : {true, false}) {
    stage_set at;
    at.how->conductor_is_silent = true;
    at.submit(5); // one of them dies with it
    at.in.settle();
    at.how->conductor_is_silent = false;
    if (rejector)
      at.lose<rejector_double>(schema::Role::REJECTOR, 0);
    else
      at.lose<conductor_double>(schema::Role::CONDUCTOR, 0);
    at.submit(6); // one comes while nobody is there
    at.in.settle();
    CHECK(at.hears->streams.empty());
    CHECK(at.counts->waiting() == 2);
    if (rejector)
      at.replace<rejector_double>(schema::Role::REJECTOR, 0);
    else
      at.replace<conductor_double>(schema::Role::CONDUCTOR, 0);
    at.in.settle();
    CHECK(at.hears->streams.size() == 2);
    CHECK(at.how->arrived.size() == 3);
  }
}

TEST_CASE("what cannot be served is tried so often, and no more") {
  stage_set at;
  at.how->end = schema::End::ACTOR_LOST;
  at.how->ends_without_token = true;
  at.submit(5);
  at.in.settle();
  CHECK(at.how->arrived.size() == 2);
  at.in.advance(2s);
  CHECK(at.how->arrived.size() == 3);
  CHECK(at.hears->error_of(5) == "actor_lost");
  CHECK(at.how->cancels.count("decode.0")
        == 3); // who may have been told by nobody else
  CHECK(at.holds_nothing());
}

TEST_CASE("the last attempt is made when it is known here, too, who is lost") {
  stage_set at;
  at.how->end = schema::End::ACTOR_LOST;
  at.how->ends_without_token = true;
  at.submit(5);
  at.in.settle();
  CHECK(at.how->arrived.size() == 2);
  at.how->end = schema::End::LENGTH;
  at.how->ends_without_token = false;
  at.how->prefill = 1;
  at.lose<prefill_double>(schema::Role::PREFILL, 0);
  at.in.settle();
  CHECK(at.how->arrived.size() == 3);
  at.go_on();
  at.go_on();
  CHECK(at.hears->streams[5].tokens.size() == 3);
  CHECK(at.holds_nothing());
}

} // namespace
} // namespace perigee::gateway
