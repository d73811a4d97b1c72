#include "actors/conductor/plan_words.hpp"

#include <capnp/message.h>
#include <catch2/catch.hpp>

namespace perigee::conductor {
namespace {

using namespace std::chrono_literals;

constexpr plan chosen{.prefill = {node_index{2}, 1},
                      .decode = {node_index{3}, 4},
                      .reuse_blocks = 2,
                      .source = node_index{5},
                      .fetch = 1ms,
                      .queue = 2ms,
                      .prefill_time = 4ms,
                      .tbt = 8ms};

/// For 50 tokens, three full blocks of 16 among them.
struct asked_place {
  asked_place() {
    place.setAdmissionNs(77);
    wanted.initGateway().setNode(9);
    wanted.setRequest(7);
    wanted.setPromptTokens(50);
    wanted.setTokensMax(5);
    wanted.setRemainingNs(1'000'000'000);
    wanted.initChain().setBlockTokens(16);
    wanted.getChain().initKeys(3);
  }

  capnp::MallocMessageBuilder words;
  schema::Place::Builder place = words.initRoot<schema::Place>();
  schema::Wish::Builder wanted = place.initWish();
};

TEST_CASE("a wish is sound if its blocks are no longer than its prompt") {
  asked_place one;
  CHECK(is_sound(one.wanted));
  one.wanted.setPromptTokens(47);
  CHECK_FALSE(is_sound(one.wanted));
  one.wanted.setPromptTokens(48);
  CHECK(is_sound(one.wanted));
}

TEST_CASE("a wish for nothing, of nothing, or of endless blocks is not sound") {
  asked_place no_answer, no_prompt, no_blocks;
  no_answer.wanted.setTokensMax(0);
  CHECK_FALSE(is_sound(no_answer.wanted));
  no_prompt.wanted.getChain().initKeys(0);
  no_prompt.wanted.setPromptTokens(0);
  CHECK_FALSE(is_sound(no_prompt.wanted));
  no_blocks.wanted.getChain().setBlockTokens(0);
  CHECK_FALSE(is_sound(no_blocks.wanted));
}

TEST_CASE("who names no objective has the cluster's") {
  asked_place one;
  auto ours = to_wish(one.wanted, 3s, 40ms);
  CHECK(ours.ttft_limit == 3s);
  CHECK(ours.tbt_limit == 40ms);
  CHECK(ours.decodes);
  one.wanted.setTtftLimitNs(1'000'000);
  one.wanted.setTokensMax(1);
  auto theirs = to_wish(one.wanted, 3s, 40ms);
  CHECK(theirs.ttft_limit == 1ms);
  CHECK(theirs.tbt_limit == 40ms);
  CHECK_FALSE(theirs.decodes);
}

TEST_CASE("the book keeps what is still to be computed, and until when") {
  asked_place one;
  auto kept = to_placement(chosen, one.wanted, 100s, 5s);
  CHECK(kept.request == request_id{7});
  CHECK(kept.uncached_tokens == 50 - 2 * 16);
  CHECK(kept.prompt_tokens == 50);
  CHECK(kept.arrives_at == 100s + 7ms);
  CHECK(kept.expires_at == 106s);
}

TEST_CASE("group, instance and gateway are each told their part of a plan") {
  asked_place one;
  capnp::MallocMessageBuilder words;
  auto work = words.getOrphanage().newOrphan<schema::Prefill>();
  set_prefill(work.get(), chosen, one.place);
  auto prefill = work.getReader();
  CHECK(prefill.getRequest() == 7);
  CHECK(prefill.getGateway().getNode() == 9);
  CHECK(prefill.getDecode().getNode() == 3);
  CHECK(prefill.getDecode().getIndex() == 4);
  CHECK(prefill.getSource().getNode() == 5);
  CHECK(prefill.getReuseBlocks() == 2);
  CHECK(prefill.getChain().getKeys().size() == 3);
  CHECK(prefill.getStages().getAdmissionNs() == 77);
  CHECK(prefill.getPredictedNs() == 4'000'000);

  auto news = words.getOrphanage().newOrphan<schema::Expect>();
  set_expect(news.get(), chosen, one.wanted);
  CHECK(news.getReader().getPrefill().getNode() == 2);
  CHECK(news.getReader().getPrefill().getIndex() == 1);
  CHECK(news.getReader().getInNs() == 7'000'000);

  auto said = words.getOrphanage().newOrphan<schema::Placed>();
  set_plan(said.get().initPlaced(), chosen, false);
  CHECK(said.getReader().getPlaced().getTtftNs() == 7'000'000);
  CHECK(said.getReader().getPlaced().getTbtNs() == 8'000'000);
  CHECK(said.getReader().getPlaced().getReuseBlocks() == 2);
}

} // namespace
} // namespace perigee::conductor
