#include "actors/conductor/conductor.hpp"

#include "tests/actors/conductor/cluster.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::conductor {
namespace {

// -- placing ------------------------------------------------------------------

TEST_CASE("a placed request is known to its group, its instance and its gateway") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  auto chain = chain_of(10);
  auto said = some.came_of({.request = 5, .chain = chain, .tokens_max = 40});
  REQUIRE(said.isPlaced());
  CHECK(said.getRequest() == 5);
  auto node = said.getPlaced().getPrefill().getNode();
  CHECK(said.getPlaced().getTtftNs() == 161'000'000);
  CHECK(said.getPlaced().getTbtNs() == 11'000'000);

  REQUIRE(some.groups.at(node).of<schema::Prefill>().size() == 1);
  auto work = *some.groups.at(node).of<schema::Prefill>().front();
  CHECK(work.getRequest() == 5);
  CHECK(work.getPromptTokens() == 161);
  CHECK(work.getTokensMax() == 40);
  CHECK(to_chain(work.getChain()) == chain);
  CHECK(work.getReuseBlocks() == 0);
  CHECK(work.getRemainingNs() == 60'000'000'000);
  CHECK(work.getStages().getAdmissionNs() == 7);
  CHECK(work.getPredictedNs() == 161'000'000);

  auto decodes_at = said.getPlaced().getDecode().getNode();
  CHECK(work.getDecode().getNode() == decodes_at);
  REQUIRE(some.instances.at(decodes_at).of<schema::Expect>().size() == 1);
  auto news = *some.instances.at(decodes_at).of<schema::Expect>().front();
  CHECK(news.getRequest() == 5);
  CHECK(news.getPromptTokens() == 161);
  CHECK(news.getInNs() == 161'000'000);
  CHECK(news.getPrefill().getNode() == node);
}

TEST_CASE("a request for one token is expected by no instance") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  auto said = some.came_of({.chain = chain_of(3), .tokens_max = 1});
  CHECK(said.isPlaced());
  for (auto node : {0, 1})
    CHECK(some.instances.at(node).of<schema::Expect>().empty());
}

TEST_CASE("requests that come together are counted one by one, and shared out") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  for (std::uint64_t i = 1; i <= 10; ++i)
    some.place({.request = i, .chain = chain_of(10, i)});
  some.bench.settle();
  CHECK(some.groups.at(0).of<schema::Prefill>().size() == 5);
  CHECK(some.groups.at(1).of<schema::Prefill>().size() == 5);
  CHECK(some.instances.at(0).of<schema::Expect>().size() == 5);
}

TEST_CASE("who cannot be served in time is refused, with the figures") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  CHECK(some.came_of({.request = 1, .chain = {}, .prompt_tokens = 8000}).isPlaced());
  CHECK(some.came_of({.request = 2, .chain = {}, .prompt_tokens = 9000}).isPlaced());
  auto late = some.came_of({.request = 3, .chain = {}, .prompt_tokens = 3000});
  REQUIRE(late.isRefused());
  CHECK(late.getRequest() == 3);
  CHECK(late.getRefused().getWhy() == reason_told::PREFILL_LOAD);
  CHECK(late.getRefused().getLoad() == Approx(1.1));
  CHECK(late.getRefused().getRetryAfterNs() == 1'000'000'000);
  CHECK(some.count("refused_prefill_total") == 1);
  // A second later it is not: the queue has shortened.
  some.bench.advance(1s);
  CHECK(some.came_of({.request = 4, .chain = {}, .prompt_tokens = 3000}).isPlaced());
}

TEST_CASE("a client's own objective is the one that counts") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  asked wish{.request = 1, .chain = {}, .prompt_tokens = 2000, .ttft_limit = 1s};
  CHECK(some.came_of(wish).isRefused());
  wish.ttft_limit = 3s;
  CHECK(some.came_of(wish).isPlaced());
}

TEST_CASE("a conductor that holds nobody to objectives refuses nobody") {
  FOR_EVERY_SEED(seed);
  auto how = simple();
  how.wanted = {.ttft = false, .tbt = tbt_check::none, .load_max = 1};
  cluster some{seed, how};
  for (std::uint64_t i = 1; i <= 20; ++i)
    CHECK(
      some.came_of({.request = i, .chain = {}, .prompt_tokens = 100'000}).isPlaced());
}

TEST_CASE("a decode pool that is full is full for all, until its requests end") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  for (auto node : {0u, 1u})
    some.report_instance(node, 90, {}, {});
  auto why = some.came_of({.request = 1, .chain = chain_of(1)});
  REQUIRE(why.isRefused());
  CHECK(why.getRefused().getWhy() == reason_told::DECODE_LOAD);
  CHECK(why.getRefused().getRetryAfterNs() > 0);
  some.report_instance(1, 89, {}, {});
  auto said = some.came_of({.request = 2, .chain = chain_of(1)});
  REQUIRE(said.isPlaced());
  CHECK(said.getPlaced().getDecode().getNode() == 1);
}

TEST_CASE("without a group or an instance there is nobody to place with") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  for (auto node : {0, 1})
    some.introduce(Role::DECODE, node, false);
  auto why = some.came_of({.chain = chain_of(1)});
  REQUIRE(why.isRefused());
  CHECK(why.getRefused().getWhy() == reason_told::NO_INSTANCE);
  CHECK(why.getRefused().getRetryAfterNs() > 0);
}

TEST_CASE("a group that is lost though nobody said so is not placed with") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.vanish(some.group(0));
  for (std::uint64_t i = 1; i <= 3; ++i)
    CHECK(some.came_of({.request = i, .chain = chain_of(2, i)})
            .getPlaced()
            .getPrefill()
            .getNode()
          == 1);
  some.vanish(some.group(1));
  CHECK(some.came_of({.request = 4, .chain = chain_of(2)}).getRefused().getWhy()
        == reason_told::NO_INSTANCE);
  CHECK(some.said().size() == 4);
}

TEST_CASE("a conductor whose book is full says so") {
  FOR_EVERY_SEED(seed);
  auto how = simple();
  how.book.requests_max = 2;
  cluster some{seed, how};
  CHECK(some.came_of({.request = 1, .chain = chain_of(1)}).isPlaced());
  CHECK(some.came_of({.request = 2, .chain = chain_of(1)}).isPlaced());
  CHECK(some.came_of({.request = 3, .chain = chain_of(1)}).getRefused().getWhy()
        == reason_told::QUEUE_FULL);
}

TEST_CASE("a wish that contradicts itself is dropped, and disturbs nobody") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.place({.request = 1, .chain = chain_of(10), .prompt_tokens = 100});
  some.place({.request = 2, .chain = {}, .prompt_tokens = 10, .tokens_max = 0});
  some.bench.settle();
  CHECK(some.said().empty());
  CHECK(some.count("malformed_total") == 2);
  CHECK(some.came_of({.request = 3, .chain = chain_of(1)}).isPlaced());
}

TEST_CASE("only the rejector of today may have a request placed") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.bench.roster().seat(rejector_name{},
                           {rejector_actor{}, {1, 2}, rt::actor_tag{9}});
  some.place({.chain = chain_of(1)});
  some.bench.settle();
  CHECK(some.said().empty());
  CHECK(some.count("stale_total") == 1);
}

// -- ending -------------------------------------------------------------------

TEST_CASE("a cancel is acknowledged once, and makes room at once") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.introduce(Role::PREFILL, 1, false);
  CHECK(some.came_of({.request = 1, .chain = {}, .prompt_tokens = 9000}).isPlaced());
  CHECK(some.came_of({.request = 2, .chain = {}, .prompt_tokens = 9000}).isRefused());
  some.cancel(1);
  CHECK(some.came_of({.request = 3, .chain = {}, .prompt_tokens = 9000}).isPlaced());
  some.cancel(99); // nobody knows that one
  some.bench.settle();
  const auto& ends = some.gateway.of<schema::Cancelled>();
  REQUIRE(ends.size() == 2);
  CHECK(ends[0]->getRequest() == 1);
  CHECK(ends[0]->getBy() == Role::CONDUCTOR);
  CHECK(ends[1]->getRequest() == 99);
  CHECK(some.count("cancelled_total") == 1);
}

TEST_CASE("a request whose end nobody reports is forgotten after its time") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  for (std::uint64_t i = 1; i <= 20; ++i)
    some.place({.request = i, .chain = chain_of(2, i), .remaining = 10s * i});
  some.bench.settle();
  CHECK(some.count("requests") == 20);
  some.bench.advance(16s);
  CHECK(some.count("requests") == 19);
  some.bench.advance(200s);
  CHECK(some.count("requests") == 0);
  CHECK(some.count("expired_total") == 20);
}

TEST_CASE("reports follow a request to its end") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  auto placed = some.came_of({.request = 1, .chain = chain_of(2)}).getPlaced();
  auto group = placed.getPrefill().getNode(), instance = placed.getDecode().getNode();
  some.report_group(group, 1, 20, {});
  some.report_group(group, 0, 0, {1});
  some.report_instance(instance, 1, {1}, {});
  some.bench.settle();
  CHECK(some.count("requests") == 1);
  some.report_instance(instance, 0, {}, {1});
  some.bench.settle();
  CHECK(some.count("requests") == 0);
  CHECK(some.count("expired_total") == 0);
}

TEST_CASE("what a lost instance had is forgotten, and its successor begins anew") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  for (std::uint64_t i = 1; i <= 8; ++i)
    some.place({.request = i, .chain = chain_of(2, i)});
  some.introduce(Role::PREFILL, 0, false);
  some.bench.settle();
  CHECK(some.count("requests") == 4);
  CHECK(some.count("lost_total") == 4);
  some.introduce(Role::PREFILL, 0, true);
  CHECK(some.came_of({.request = 9, .chain = chain_of(2)})
          .getPlaced()
          .getPrefill()
          .getNode()
        == 0);
}

} // namespace
} // namespace perigee::conductor
