#include "actors/decode_instance/decode_state.hpp"
#include "actors/drawn.hpp"
#include "actors/span_of.hpp"

namespace perigee::decode {

// -- a request comes ----------------------------------------------------------

void decode_state::on_expect(const Msg<schema::Expect>& news) {
  if (!is_current(news, conductor_name{how_.control, 0}))
    return;
  auto request = news->getRequest();
  if (ended_.find(request) || guests_.find(request))
    return; // it has overtaken this
  auto* one = guests_.open(request);
  if (!one)
    return; // a forecast less
  one->gateway = to_name<gateway_name>(news->getGateway());
  one->prefill = to_name<prefill_name>(news->getPrefill());
  one->why = news;
  keep_until(*one, news->getRemainingNs());
  settle();
}

void decode_state::on_room(const Msg<schema::Room>& wish) {
  auto prefill = to_name<prefill_name>(wish->getPrefill());
  auto request = wish->getRequest();
  if (!is_current(wish, prefill))
    return;
  if (ended_.find(request))
    return tell_roomed(prefill, request, wish, [](auto said) { said.setGone(); });
  auto* one = guests_.open(request);
  if (!one || one->now != stage::expected)
    return tell_roomed(prefill, request, wish, [](auto said) { said.setBusy(); });
  one->gateway = to_name<gateway_name>(wish->getGateway());
  one->prefill = prefill;
  one->writer = rt::actor_tag{wish->getHeader().getSender()};
  one->why = wish;
  one->prompt_tokens = wish->getPromptTokens();
  guests_.set_youngest(*one);
  keep_until(*one, wish->getRemainingNs());
  // One token more than the prompt must find place, or nothing can be drawn.
  bool fits = blocks_for(std::size_t{one->prompt_tokens} + 1) <= blocks_total_;
  if (fits && line_.join(request, blocks_for(one->prompt_tokens))) {
    one->now = stage::lining;
  } else {
    tell_roomed(prefill, request, wish, [](auto said) { said.setBusy(); });
    end(*one, End::NONE);
  }
  settle();
}

void decode_state::keep_until(const guest& one, std::uint64_t remaining_ns) {
  deadlines_.take(one.request);
  bool kept = deadlines_.put(one.request, desk_.now() + span_of(remaining_ns), {});
  PERIGEE_ASSERT(kept, "as many deadlines as requests");
}

/// Gives blocks to whose turn it is, after those who are in the pool. Every sequence
/// that decodes may need one soon.
void decode_state::give_rooms() {
  while (line_.size() > 0 && guests_.count_at(stage::parked) == 0) {
    auto free = ledger_.counts().free;
    auto next = line_.next(free - std::min(free, guests_.count_at(stage::ready)));
    if (!next)
      return;
    give_room(guests_.at(*next));
  }
}

void decode_state::give_room(guest& one) {
  take_blocks(one, blocks_for(one.prompt_tokens));
  one.now = stage::receiving;
  one.was_given = true;
  tell_roomed(one.prefill, one.request, one.why, [&](schema::Roomed::Builder said) {
    auto given = said.initGiven();
    given.setSegment(how_.segment);
    given.setBlocks({one.blocks.data(), one.blocks.size()});
  });
}

// -- and is taken over --------------------------------------------------------

void decode_state::on_handoff(const Msg<schema::Handoff>& news) {
  auto prefill = to_name<prefill_name>(news->getPrefill());
  if (!is_current(news, prefill))
    return;
  auto* one = guests_.find(news->getRequest());
  bool awaits = one && (one->now == stage::lining || one->now == stage::receiving);
  if (!awaits || one->is_accepted() || one->prefill != prefill
      || !is_sound(*news, *one))
    return tell_handed_off(prefill, news, [](auto said) { said.setGone(); });
  auto limit = news->getTbtLimitNs() != 0 ? moment{news->getTbtLimitNs()}
                                          : moment{how_.tbt_limit};
  auto predicted = predict_with(*one);
  if (predicted > limit)
    refuse(*one, news,
           static_cast<double>(predicted.count()) / static_cast<double>(limit.count()));
  else
    accept(*one, news);
  settle();
}

/// Whether it is the prompt that there is room for, with something left to be answered.
bool decode_state::is_sound(schema::Handoff::Reader news, const guest& one) const {
  return news.getPromptTokens() == one.prompt_tokens && news.getTokensMax() > 1
         && news.getTail().size() == one.prompt_tokens % block_tokens_;
}

/// How long a step will take with one more. 0 if nobody else is here: it can't be worse
/// than alone, and only steps that are taken show whether it is.
moment decode_state::predict_with(const guest& newcomer) const {
  auto load = guests_.load(steps_taken());
  if (load.sequences == 0)
    return moment{};
  ++load.sequences;
  load.kv_tokens += std::size_t{newcomer.prompt_tokens} + 1;
  return tbt_.predict(load);
}

void decode_state::refuse(guest& one, const Msg<schema::Handoff>& news, double load) {
  probe_->refused();
  tell_handed_off(one.prefill, news, [&](schema::HandedOff::Builder said) {
    auto refusal = said.initRefused();
    refusal.setWhy(schema::Refusal::Reason::DECODE_LOAD);
    refusal.setLoad(load);
    refusal.setRetryAfterNs(1'000'000'000);
  });
  end(one, End::NONE);
}

void decode_state::accept(guest& one, const Msg<schema::Handoff>& news) {
  probe_->accepted();
  one.handoff = news;
  one.why = news;
  one.accepted_at = desk_.now();
  auto parent = news->getParent();
  sequence::prompt before{
    news->getPromptTokens(), {}, {parent.getHigh(), parent.getLow()}};
  for (auto token : news->getTail())
    before.tail.push_back(token);
  one.answer.emplace(std::move(before), news->getFirst().getToken(),
                     news->getTokensMax(), block_tokens_);
  keep_until(one, news->getRemainingNs());
  untold_began_.add(one.request);
  tell_handed_off(one.prefill, news, [](auto said) { said.setAccepted(); });
  tell_first(one);
}

void decode_state::tell_first(const guest& one) {
  desk_.tell<schema::Tokens>(one.gateway, one.why, [&](schema::Tokens::Builder news) {
    auto run = news.initRuns(1)[0];
    run.setRequest(one.request);
    set_drawn(run.initTokens(1)[0], (*one.handoff)->getFirst());
    run.setCachedTokens((*one.handoff)->getCachedTokens());
    run.setStages((*one.handoff)->getStages());
  });
}

void decode_state::on_landed(const Msg<schema::Landed>& news) {
  auto* one = guests_.find(news->getRequest());
  if (!one || one->landed)
    return probe_->dropped_stale();
  if (!is_current(news, one->prefill))
    return;
  one->landed = true;
  touched_.insert(one->request);
  if (one->now == stage::receiving && one->is_accepted() && news->getOk()) {
    one->now = stage::ready;
    one->landed_at = desk_.now();
    interrupt(); // the next batch is another
  } else {
    end(*one, one->is_accepted() ? End::TRANSFER_FAILED : End::NONE);
  }
  settle();
}

} // namespace perigee::decode
