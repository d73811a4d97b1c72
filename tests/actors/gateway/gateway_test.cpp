#include "schemas/limits.capnp.h"
#include "tests/actors/gateway/stage_set.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a request goes to the rejector, its prompt to the group, its tokens out") {
  stage_set at;
  CHECK(at.hears->openings == 1);
  at.submit(5);
  at.in.settle();
  REQUIRE(at.how->arrived.size() == 1);
  auto request = at.how->arrived[0];
  CHECK(at.how->prompts[request].size() == 20);
  CHECK(at.how->temperature == 0.25);
  CHECK(at.how->tokens_max == 5);
  CHECK(at.hears->streams[5].tokens == std::vector<engine::token_id>{7});
  CHECK(at.hears->streams[5].last.cached_tokens == 16);
  CHECK(at.counts->running() == 1);
  at.go_on();
  at.go_on();
  auto& heard = at.hears->streams[5];
  CHECK(heard.tokens == std::vector<engine::token_id>{7, 8, 9});
  CHECK(heard.last.end == stream_end::stop);
  REQUIRE(heard.last.stages);
  CHECK((*heard.last.stages)[stage::parse] == 100ns);
  CHECK((*heard.last.stages)[stage::tokenize] == 200ns);
  CHECK((*heard.last.stages)[stage::prefill] == 1ms);
  CHECK(at.holds_nothing());
  CHECK(at.counts->prompt_tokens_total() == 20);
  CHECK(at.counts->answer_tokens_total() == 3);
  CHECK(at.counts->stopped_total() == 1);
  CHECK(at.how->cancels.empty());
}

TEST_CASE("a prompt travels in parts, and arrives whole") {
  stage_set at;
  constexpr std::uint32_t part = schema::PART_TOKENS_MAX;
  at.submit(5, part, 0, 0, false);
  at.submit(5, 1000, 0, part, true);
  at.in.settle();
  CHECK(at.how->prompt_parts == 2);
  auto& prompt = at.how->prompts.begin()->second;
  REQUIRE(prompt.size() == part + 1000);
  CHECK(prompt.back() == part + 999);
}

TEST_CASE("a prompt's scores come out under the stream's name") {
  stage_set at;
  at.in.tell<schema::Submit>(at.gateway, [](schema::Submit::Builder wish) {
    wish.setStream(5);
    auto tokens = wish.initTokens(2);
    tokens.set(1, 42);
    wish.setLast(true);
    wish.setTokensMax(1);
    wish.setPromptLogprobs(0);
  });
  at.in.settle();
  REQUIRE(at.hears->scores.size() == 1);
  CHECK(at.hears->scores[0].stream == 5);
  CHECK(at.hears->scores[0].first_token == 1);
  CHECK(at.hears->scores[0].scores.at(0).token == 42);
}

TEST_CASE("a refusal comes out with its reason and when to come again") {
  using why = schema::Refusal::Reason;
  struct expectation {
    why reason;
    const char* code;
  };
  for (auto [reason, code] : {expectation{why::PREFILL_LOAD, "rejected_prefill"},
                              {why::DECODE_LOAD, "rejected_decode"},
                              {why::QUEUE_FULL, "queue_full"},
                              {why::NO_INSTANCE, "not_ready"},
                              {why::TOO_LONG, "context_length_exceeded"},
                              {why::DRAINING, "not_ready"}}) {
    stage_set at;
    at.how->refuse = reason;
    at.submit(5);
    at.in.settle();
    CHECK(at.hears->error_of(5) == code);
    if (reason != why::TOO_LONG)
      CHECK(at.hears->streams[5].last.why->retry_in_s == 3); // 2.5 s, rounded up
    CHECK(at.holds_nothing());
  }
}

TEST_CASE("a decode instance may refuse after prefill") {
  stage_set at;
  at.how->end = schema::End::REFUSED;
  at.how->ends_without_token = true;
  at.submit(5);
  at.in.settle();
  CHECK(at.hears->error_of(5) == "queue_full");
  CHECK(at.holds_nothing());
}

TEST_CASE("every bad end has its own code") {
  struct expectation {
    schema::End end;
    const char* code;
  };
  for (auto [end, code] : {expectation{schema::End::DEADLINE, "deadline_exceeded"},
                           {schema::End::ENGINE_FAILED, "engine_failed"},
                           {schema::End::BUSY, "queue_full"},
                           {schema::End::CANCELLED, "internal_error"}}) {
    stage_set at;
    at.how->end = end;
    at.how->ends_without_token = true;
    at.submit(5);
    at.in.settle();
    CHECK(at.hears->error_of(5) == code);
    CHECK(at.holds_nothing());
  }
}

} // namespace
} // namespace perigee::gateway
