#include "actors/prefill_group/prefill_words.hpp"

namespace perigee::prefill {
namespace {

/// The prompt's distinct tokens, where the penalty needs them.
template <class Init>
void write_seen(const job& one, Init init) {
  if (one.prompt.last()->getSampling().getRepetitionPenalty() == 1)
    return;
  auto seen = one.prompt.tokens();
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  auto list = init(static_cast<unsigned>(seen.size()));
  for (unsigned i = 0; i < list.size(); ++i)
    list.set(i, seen[i]);
}

} // namespace

void write_begin(schema::Forward::Begin::Builder begin, const job& one) {
  begin.setSequence(one.owner);
  begin.setSampling(one.prompt.last()->getSampling());
  write_seen(one, [&](unsigned size) { return begin.initSeen(size); });
}

void write_work(schema::Forward::Work::Builder work, const job& one) {
  work.setSequence(one.owner);
  work.setFirstPosition(one.computed);
  work.setTokens({one.prompt.tokens().data() + one.computed, one.flying});
  if (!one.has_sequence)
    work.setBlocks({one.blocks.data(), one.blocks.size()});
  work.setSteps(one.computed + one.flying == one.prompt_tokens() ? 1 : 0);
  work.setScores(one.prompt.last()->getPromptLogprobs());
  if (one.fetch_ticket != 0)
    work.setAwaitGate(static_cast<std::uint64_t>(one.arrival->id()));
  if (one.gate)
    work.setOpenGate(static_cast<std::uint64_t>(one.gate->id()));
}

void write_handoff(schema::Handoff::Builder news, const job& one,
                   schema::Drawn::Reader first, std::uint32_t block_tokens) {
  auto plan = **one.plan;
  auto keys = plan.getChain().getKeys();
  auto full = one.prompt_tokens() / block_tokens;
  news.setRequest(one.request);
  news.setGateway(plan.getGateway());
  news.setPromptTokens(one.prompt_tokens());
  news.setCachedTokens(one.cached);
  news.setFirst(first);
  auto tail = news.initTail(one.prompt_tokens() - full * block_tokens);
  for (unsigned i = 0; i < tail.size(); ++i)
    tail.set(i, one.prompt.tokens()[full * block_tokens + i]);
  news.setParent(keys.size() > 0 ? keys[keys.size() - 1] : plan.getChain().getRoot());
  news.setDepth(full);
  news.setSampling(one.prompt.last()->getSampling());
  write_seen(one, [&](unsigned size) { return news.initSeen(size); });
  news.setTokensMax(plan.getTokensMax());
  news.setTbtLimitNs(plan.getTbtLimitNs());
  news.setStages(plan.getStages());
}

} // namespace perigee::prefill
