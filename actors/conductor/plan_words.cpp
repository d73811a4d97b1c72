#include "actors/conductor/plan_words.hpp"

#include "actors/conductor/words.hpp"
#include "actors/span_of.hpp"
#include "schemas/convert.hpp"

namespace perigee::conductor {
namespace {

/// As predicted, and never below zero.
std::uint64_t to_ns(nanoseconds span) {
  return static_cast<std::uint64_t>(span.count());
}

/// One token is the prefill's own.
bool decodes(schema::Wish::Reader from) {
  return from.getTokensMax() > 1;
}

} // namespace

bool is_sound(schema::Wish::Reader from) {
  auto chain = from.getChain();
  auto full = std::uint64_t{chain.getKeys().size()} * chain.getBlockTokens();
  return from.getPromptTokens() > 0 && from.getTokensMax() > 0
         && chain.getBlockTokens() > 0 && full <= from.getPromptTokens();
}

wish to_wish(schema::Wish::Reader from, nanoseconds ttft_limit, nanoseconds tbt_limit) {
  auto or_ours = [](std::uint64_t theirs, nanoseconds ours) {
    return theirs > 0 ? span_of(theirs) : ours;
  };
  return {.prompt_tokens = from.getPromptTokens(),
          .block_tokens = from.getChain().getBlockTokens(),
          .decodes = decodes(from),
          .ttft_limit = or_ours(from.getTtftLimitNs(), ttft_limit),
          .tbt_limit = or_ours(from.getTbtLimitNs(), tbt_limit),
          .names_ttft = from.getTtftLimitNs() > 0,
          .gateway = node_index{from.getGateway().getNode()}};
}

placement to_placement(const plan& chosen, schema::Wish::Reader from, moment now,
                       nanoseconds grace) {
  auto cached = chosen.reuse_blocks * from.getChain().getBlockTokens();
  return {.request = request_id{from.getRequest()},
          .prefill = chosen.prefill,
          .decode = chosen.decode,
          .decodes = decodes(from),
          .prefill_time = chosen.prefill_time,
          .uncached_tokens = from.getPromptTokens() - cached,
          .prompt_tokens = from.getPromptTokens(),
          .arrives_at = now + chosen.ttft(),
          .expires_at = now + span_of(from.getRemainingNs()) + grace};
}

void set_prefill(schema::Prefill::Builder to, const plan& chosen,
                 schema::Place::Reader asked) {
  auto from = asked.getWish();
  to.setRequest(from.getRequest());
  to.setGateway(from.getGateway());
  set_name(to.initDecode(), chosen.decode);
  to.setPromptTokens(from.getPromptTokens());
  to.setTokensMax(from.getTokensMax());
  to.setChain(from.getChain());
  to.setReuseBlocks(chosen.reuse_blocks);
  to.initSource().setNode(static_cast<std::uint32_t>(chosen.source)); // has one shard
  to.setRemainingNs(from.getRemainingNs());
  to.setTbtLimitNs(from.getTbtLimitNs());
  to.initStages().setAdmissionNs(asked.getAdmissionNs());
  to.setPredictedNs(to_ns(chosen.prefill_time));
}

void set_expect(schema::Expect::Builder to, const plan& chosen,
                schema::Wish::Reader from) {
  to.setRequest(from.getRequest());
  to.setGateway(from.getGateway());
  set_name(to.initPrefill(), chosen.prefill);
  to.setPromptTokens(from.getPromptTokens());
  to.setTokensMax(from.getTokensMax());
  to.setInNs(to_ns(chosen.ttft()));
  to.setRemainingNs(from.getRemainingNs());
}

void set_plan(schema::Placed::Plan::Builder to, const plan& chosen, bool coupled) {
  to.setCoupled(coupled);
  set_name(to.initPrefill(), chosen.prefill);
  set_name(to.initDecode(), chosen.decode);
  to.setReuseBlocks(chosen.reuse_blocks);
  to.setTtftNs(to_ns(chosen.ttft()));
  to.setTbtNs(to_ns(chosen.tbt));
}

} // namespace perigee::conductor
