#include "tests/actors/gateway/stage_set.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

using namespace std::chrono_literals;

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

} // namespace
} // namespace perigee::gateway
