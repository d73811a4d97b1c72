#include "schemas/limits.capnp.h"
#include "tests/actors/gateway/neighbours.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

using namespace std::chrono_literals;
using lab = test::lab<caf::id_block::perigee>;

/// A gateway among doubles.
struct stage_set {
  explicit stage_set(options limits = {}, std::uint64_t seed = 1) : in(seed) {
    seat<cluster_double>(0);
    seat<rejector_double>(0);
    seat<conductor_double>(0);
    seat<prefill_double>(0);
    seat<prefill_double>(1);
    seat<decode_double>(0);
    seat<decode_double>(1);
    open(limits);
    in.settle();
  }

  ~stage_set() {
    in.roster().clear();
  }

  void open(options limits) {
    rt::place where{0, 1};
    gateway = in.adopt(start(in.world(), where, hears, limits, counts));
    auto tag = rt::tag_of(rt::full_name("lab", 1, "gateway", where));
    in.roster().seat(gateway_name{}, {gateway, {1, 1}, tag});
  }

  template <class Double>
  void seat(std::uint32_t index, std::uint32_t incarnation = 1) {
    rt::place where{index, incarnation};
    auto who = in.spawn_at<Double>(where, how);
    using handle = typename Double::handle;
    in.roster().seat(rt::name<handle>{{}, index},
                     {who, {1, incarnation}, in.tag_of(who)});
    actors[Double::name + std::string{"."} + std::to_string(index)]
      = caf::actor_cast<caf::actor>(who);
  }

  /// Ends an actor, clears its seat, and tells the gateway.
  template <class Double>
  void lose(schema::Role role, std::uint32_t index) {
    using handle = typename Double::handle;
    rt::kill(actors.at(Double::name + std::string{"."} + std::to_string(index)));
    in.roster().vacate(rt::name<handle>{{}, index}, {1, 1});
    tell_member(role, index, false);
  }

  template <class Double>
  void replace(schema::Role role, std::uint32_t index) {
    seat<Double>(index, 2);
    tell_member(role, index, true);
  }

  void tell_member(schema::Role role, std::uint32_t index, bool up) {
    in.tell<schema::Member>(gateway, [&](schema::Member::Builder news) {
      news.setRole(role);
      news.initWho().setIndex(index);
      news.setUp(up);
    });
  }

  void submit(std::uint64_t stream, std::uint32_t tokens = 20,
              std::uint64_t limit_ns = 0, std::uint32_t first = 0, bool last = true) {
    in.tell<schema::Submit>(gateway, [&](schema::Submit::Builder wish) {
      wish.setStream(stream);
      wish.setFirstToken(first);
      auto list = wish.initTokens(tokens);
      for (unsigned i = 0; i < tokens; ++i)
        list.set(i, first + i);
      wish.setLast(last);
      wish.initSampling().setTemperature(0.25);
      wish.setTokensMax(5);
      wish.setRemainingNs(limit_ns);
      auto stages = wish.initStages();
      stages.setParseNs(100);
      stages.setTokenizeNs(200);
    });
  }

  void withdraw(std::uint64_t stream) {
    in.tell<schema::Withdraw>(gateway, [&](auto wish) { wish.setStream(stream); });
  }

  /// The decode instance says one more token.
  void go_on(std::uint32_t index = 0) {
    in.tell<schema::Due>(
      caf::actor_cast<decode_actor>(actors.at("decode." + std::to_string(index))),
      [](auto) {});
    in.settle();
  }

  bool holds_nothing() const {
    return counts->waiting() == 0 && counts->running() == 0
           && counts->cancelling() == 0;
  }

  lab in;
  script_ptr how = std::make_shared<script>();
  std::shared_ptr<listening_patron> hears = std::make_shared<listening_patron>();
  std::shared_ptr<probe> counts = std::make_shared<probe>();
  gateway_actor gateway;
  std::map<std::string, caf::actor> actors;
};

} // namespace

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

TEST_CASE("who is withdrawn before placement is cancelled through the rejector") {
  for (bool rejector : {true, false}) {
    stage_set at;
    (rejector ? at.how->rejector_is_silent : at.how->conductor_is_silent) = true;
    at.submit(5);
    at.in.settle();
    at.withdraw(5);
    at.in.settle();
    CHECK(at.how->cancels == std::multiset<std::string>{"conductor", "rejector"});
    CHECK(at.holds_nothing());
    CHECK(at.hears->streams.empty()); // it knows
  }
}

TEST_CASE("who is withdrawn after placement is cancelled everywhere") {
  stage_set at;
  at.submit(5);
  at.in.settle();
  at.withdraw(5);
  at.in.settle();
  CHECK(at.how->cancels
        == std::multiset<std::string>{"conductor", "decode.0", "prefill.0"});
  CHECK(at.holds_nothing());
  at.go_on();
  CHECK(at.hears->streams[5].tokens.size() == 1);
}

TEST_CASE("whatever a withdrawal crosses, nobody keeps anything") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    stage_set at{{}, seed};
    at.submit(5);
    at.withdraw(5); // on its way while the rest is
    at.in.settle();
    CHECK(at.holds_nothing());
    if (!at.how->prompts.empty())
      CHECK(at.how->cancels.contains("prefill.0"));
  }
}

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
  CHECK(at.how->arrived.size() == 3);
  CHECK(at.hears->error_of(5) == "actor_lost");
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

TEST_CASE("who never says Cancelled is waited for only so long") {
  stage_set at;
  at.how->says_cancelled = false;
  at.submit(5);
  at.in.settle();
  at.withdraw(5);
  at.in.tell<schema::Drain>(at.gateway, [](auto) {});
  at.in.settle();
  CHECK(at.counts->cancelling() == 1);
  CHECK_FALSE(at.how->drained);
  at.in.advance(31s);
  CHECK(at.holds_nothing());
  CHECK(at.how->drained);
}

TEST_CASE("nobody is believed who speaks in another's name") {
  stage_set at;
  at.how->decode_is_silent = true;
  at.submit(5);
  at.in.settle();
  auto request = at.how->arrived.at(0);
  at.in.tell<schema::Tokens>(at.gateway, [&](schema::Tokens::Builder said) {
    auto run = said.initRuns(1)[0];
    run.setRequest(request);
    run.setEnd(schema::End::STOP);
  });
  at.in.tell<schema::Placed>(at.gateway, [&](schema::Placed::Builder said) {
    said.setRequest(request);
    said.initRefused();
  });
  at.in.tell<schema::PromptScores>(at.gateway,
                                   [&](auto said) { said.setRequest(request); });
  at.in.tell<schema::Cancelled>(at.gateway,
                                [&](auto said) { said.setRequest(request); });
  at.in.settle();
  CHECK(at.hears->streams.empty());
  CHECK(at.hears->scores.empty());
  CHECK(at.counts->waiting() == 1);
  CHECK(at.counts->stale_total() == 4);
}

} // namespace perigee::gateway
