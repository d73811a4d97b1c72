#include "actors/coupled_instance/coupled_state.hpp"
#include "actors/engine_host/engine_words.hpp"
#include "actors/span_of.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::coupled {
namespace {

/// Tokens of a prompt whose scores, with as many likeliest ones each, fill a message.
std::uint32_t scored_share_max(int logprobs) {
  return static_cast<std::uint32_t>(message_bytes_max / 2
                                    / engine_host::drawn_bytes(logprobs));
}

/// At most so many bytes tell an engine of a prompt, beside its tokens: its blocks, and
/// the distinct ones of its tokens, if they are wanted.
std::uint32_t news_bytes(schema::Sampling::Reader sampling, std::uint32_t tokens) {
  auto lists = sampling.getRepetitionPenalty() == 1 ? 1u : 2u;
  return static_cast<std::uint32_t>(sampling.totalSize().wordCount * 8)
         + lists * tokens * static_cast<std::uint32_t>(sizeof tokens);
}

} // namespace

void coupled_state::on_prefill(const Msg<schema::Prefill>& plan) {
  auto request = plan->getRequest();
  if (!is_current(plan, conductor_name{how_.control, 0}))
    return;
  if (ended_.find(request))
    return probe_->dropped_stale(); // cancelled before it was here
  auto* one = open(request);
  if (!one)
    return refuse(plan);
  if (one->plan)
    return probe_->dropped_stale();
  one->plan = plan;
  one->arrived = desk_.now();
  keep_until(request, span_of(plan->getRemainingNs()));
  if (is_sound(*plan)) {
    try_to_join(*one);
  } else {
    log_->warn("bad_plan request={}", request);
    end(*one, End::ENGINE_FAILED);
  }
  settle();
}

/// Who is here already, or somebody new. Null if there are as many as may be.
resident* coupled_state::open(std::uint64_t request) {
  auto known = residents_.find(request);
  if (known == residents_.end()) {
    if (residents_.size() >= how_.requests_max)
      return nullptr;
    known = residents_.try_emplace(request).first;
    known->second.request = request;
  }
  return &known->second;
}

/// Whether the chain is that of the prompt.
bool coupled_state::is_sound(schema::Prefill::Reader plan) const {
  auto keys = plan.getChain().getKeys().size();
  auto tokens = plan.getPromptTokens();
  return tokens > 0 && plan.getTokensMax() > 0 && keys == tokens / block_tokens_
         && (keys == 0 || plan.getChain().getBlockTokens() == block_tokens_);
}

void coupled_state::on_prompt(const Msg<schema::Prompt>& part) {
  auto request = part->getRequest();
  auto* one = ended_.find(request) ? nullptr : open(request);
  if (!one || one->now != stage::joining || !one->prompt.is_of(part)
      || (one->plan && !desk_.is_from(one->gateway(), part)))
    return probe_->dropped_stale();
  if (!one->plan && !one->prompt.has_begun())
    keep_until(request, how_.join_limit);
  if (one->prompt.add(part)) {
    try_to_join(*one);
  } else {
    log_->warn("bad_prompt request={}", request);
    end(*one, End::ENGINE_FAILED);
  }
  settle();
}

/// There are as many requests as may be.
void coupled_state::refuse(const Msg<schema::Prefill>& plan) {
  resident one;
  one.request = plan->getRequest();
  one.plan = plan;
  one.arrived = desk_.now();
  probe_->failed();
  desk_.tell<schema::Tokens>(one.gateway(), plan, [&](schema::Tokens::Builder news) {
    write_end(news.initRuns(1)[0], one, End::BUSY);
  });
  remember(one.request);
  untold_ended_.add({one.request, {}});
  changed();
}

void coupled_state::keep_until(std::uint64_t request, moment span) {
  deadlines_.take(request);
  bool kept = deadlines_.put(request, desk_.now() + span, {});
  PERIGEE_ASSERT(kept, "as many deadlines as requests");
}

void coupled_state::try_to_join(resident& one) {
  if (!one.plan || !one.prompt.is_whole())
    return;
  if (!is_current(one.last_part(), one.gateway()))
    return end(one, End::NONE); // the gateway that wanted it is gone
  auto tokens = (*one.plan)->getPromptTokens();
  if (one.prompt.tokens().size() != tokens) {
    log_->warn("bad_prompt request={}", one.request);
    return end(one, End::ENGINE_FAILED);
  }
  if (!line_.fits(tokens))
    return end(one, End::BUSY);
  line_up(one);
}

void coupled_state::line_up(resident& one) {
  auto plan = **one.plan;
  auto root = plan.getChain().getRoot();
  auto logprobs = one.logprobs_of_prompt();
  one.now = stage::lined;
  one.place = &line_.add(one.request, sequence{{one.prompt.take(),
                                                {root.getHigh(), root.getLow()},
                                                to_chain(plan.getChain()),
                                                logprobs < 0},
                                               plan.getTokensMax(),
                                               block_tokens_});
  one.place->news_bytes
    = news_bytes(one.last_part()->getSampling(), plan.getPromptTokens());
  if (logprobs >= 0) {
    one.place->is_scored = true;
    one.place->share_max = std::min(one.place->share_max, scored_share_max(logprobs));
  }
  if (line_.waiting() == 1) // else who waits before it could not begin, nor can it
    interrupt();
}

} // namespace perigee::coupled
