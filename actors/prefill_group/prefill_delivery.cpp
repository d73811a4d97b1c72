#include "actors/drawn.hpp"
#include "actors/prefill_group/prefill_state.hpp"
#include "actors/prefill_group/prefill_words.hpp"

#include <spdlog/logger.h>

namespace perigee::prefill {

// -- its KV -------------------------------------------------------------------

void prefill_state::ask_room(job& one) {
  one.asked_room = desk_.tell<schema::Room>(
    one.decode(), *one.plan, [&](schema::Room::Builder wish) {
      wish.setRequest(one.request);
      set_name(wish.initPrefill(), desk_.me());
      wish.setGateway((*one.plan)->getGateway());
      wish.setPromptTokens(one.prompt_tokens());
      wish.setRemainingNs(remaining(one));
    });
}

void prefill_state::on_roomed(const Msg<schema::Roomed>& said) {
  auto* one = jobs_.find(said->getRequest());
  if (!one || !one->asked_room || one->now == stage::ending)
    return probe_->dropped_stale();
  if (!is_current(said, one->decode()))
    return;
  if (said->isGiven())
    give_room(*one, said->getGiven());
  else
    end(*one, said->isBusy() ? End::BUSY : end_of_gone(*one));
  settle();
}

/// The instance knows it no more. Unless its time is over, somebody was lost there.
schema::End prefill_state::end_of_gone(const job& one) const {
  return remaining(one) > 0 ? End::ACTOR_LOST : End::DEADLINE;
}

void prefill_state::give_room(job& one, schema::Roomed::Given::Reader room) {
  if (room.getBlocks().size() != one.blocks.size() || one.to_decode.is_open()) {
    log_->warn("bad_room request={}", one.request);
    return end(one, End::TRANSFER_FAILED);
  }
  one.to_decode.segment = room.getSegment();
  for (auto block : room.getBlocks())
    one.to_decode.targets.push_back(block);
  send_ready(one);
}

/// Sends on what can be: what is computed, and, behind the gate, what is about to be.
/// Nothing while it builds on KV that may not come; and not before all is computed, if
/// the one is to follow the other.
void prefill_state::send_ready(job& one) {
  if (one.now == stage::ending || one.fetch_ticket != 0 || one.is_spoilt
      || (!how_.layer_wise && one.computed < one.prompt_tokens()))
    return;
  touched_.insert(one.request);
  auto coming = one.gate ? one.computed + one.flying : one.computed;
  auto whole = one.blocks_of(one.computed, block_tokens_);
  auto some = one.to_decode.take(one.blocks_of(coming, block_tokens_));
  push(one, {some.first, std::min(some.end, whole)}, nullptr);
  push(one, {std::max(some.first, whole), some.end}, one.gate);
  auto full = one.computed / block_tokens_;
  auto first = std::exchange(one.stored, std::max(one.stored, coming / block_tokens_));
  store(one, {first, std::min(one.stored, full)}, nullptr);
  store(one, {std::max(first, full), one.stored}, one.gate);
  if (one.flying == 0)
    one.gate.reset(); // whoever waits there has it
}

void prefill_state::push(job& one, block_range some, const gate_ptr& gate) {
  if (some.empty() || one.to_decode.failed)
    return;
  move_order what;
  what.from = how_.segment;
  what.to = one.to_decode.segment;
  what.sources.assign(one.blocks.begin() + some.first, one.blocks.begin() + some.end);
  what.targets.assign(one.to_decode.targets.begin() + some.first,
                      one.to_decode.targets.begin() + some.end);
  what.await_gate = gate ? static_cast<std::uint64_t>(gate->id()) : 0;
  what.priority = schema::Priority::NEXT_TOKEN;
  what.limit
    = gate ? moment{static_cast<moment::rep>(remaining(one))} : how_.move_limit;
  if (one.decode().node != desk_.me().node)
    what.elsewhere = one.decode().node;
  auto told = [this, request = one.request, gate](auto ticket, auto fault) {
    auto& to = jobs_.at(request).to_decode;
    to.moves.erase(ticket);
    to.failed = to.failed || fault != schema::MoveFault::NONE;
    touched_.insert(request);
  };
  auto ticket = moves_.push(*one.plan, what, told);
  if (ticket != 0)
    one.to_decode.moves.insert(ticket);
  else
    one.to_decode.failed = true;
}

void prefill_state::store(job& one, block_range some, const gate_ptr& gate) {
  if (some.empty())
    return;
  auto keys = (*one.plan)->getChain().getKeys();
  auto key_of = [](schema::BlockKey::Reader from) {
    return block_key{from.getHigh(), from.getLow()};
  };
  pool_writer<handle>::piece what;
  what.why = *one.plan;
  what.segment = how_.segment;
  what.depth = some.first;
  what.parent
    = key_of(some.first > 0 ? keys[some.first - 1] : (*one.plan)->getChain().getRoot());
  what.gate = gate;
  for (auto i = some.first; i < some.end; ++i) {
    what.sources.push_back(one.blocks[i]);
    what.keys.push_back(key_of(keys[i]));
  }
  one.stores += pool_.store(std::move(what), [this, request = one.request](auto) {
    --jobs_.at(request).stores;
    touched_.insert(request);
  });
}

void prefill_state::on_reserved(const Msg<schema::Reserved>& said) {
  if (!pool_.took(said))
    return probe_->dropped_stale();
  settle();
}

void prefill_state::on_moved(const Msg<schema::Moved>& said) {
  if (!moves_.took(said))
    return probe_->dropped_stale();
  settle();
}

// -- itself -------------------------------------------------------------------

void prefill_state::hand_over(job& one, schema::RunResult::One::Reader first) {
  if (first.getStopped() || one.has_one_token_answer())
    return answer_alone(one, first);
  one.now = stage::handing_off;
  expire_at(one, one.deadline + how_.handoff_grace); // it is the instance's from now on
  bool there = desk_.tell<schema::Handoff>(
    one.decode(), *one.plan, [&](schema::Handoff::Builder news) {
      write_handoff(news, one, first.getDrawn(), block_tokens_);
      set_name(news.initPrefill(), desk_.me());
      news.setRemainingNs(remaining(one));
      one.times.write(news.getStages(), desk_.now());
    });
  if (!there)
    end(one, End::ACTOR_LOST);
}

/// It needs no decode instance.
void prefill_state::answer_alone(job& one, schema::RunResult::One::Reader first) {
  probe_->answered();
  tell_end(one, first.getStopped() ? End::STOP : End::LENGTH, [&](auto run) {
    if (first.getStopped())
      run.setStopToken(first.getDrawn().getToken());
    else
      set_drawn(run.initTokens(1)[0], first.getDrawn());
  });
  end(one, End::NONE);
}

void prefill_state::on_handed_off(const Msg<schema::HandedOff>& said) {
  auto* one = jobs_.find(said->getRequest());
  if (!one || one->now != stage::handing_off)
    return probe_->dropped_stale();
  if (!is_current(said, one->decode()))
    return;
  touched_.insert(one->request);
  switch (said->which()) {
    case schema::HandedOff::ACCEPTED:
      probe_->handed_off();
      one->now = stage::handed_off;
      deadlines_.take(one->request);
      report_end(*one);
      break;
    case schema::HandedOff::REFUSED:
      probe_->failed();
      tell_end(*one, End::REFUSED,
               [&](auto run) { run.setRefusal(said->getRefused()); });
      end(*one, End::NONE);
      break;
    case schema::HandedOff::GONE: end(*one, end_of_gone(*one)); break;
  }
  settle();
}

/// The decode instance may read its blocks; or, if not `ok`, nobody writes there now.
void prefill_state::land(job& one, bool ok) {
  one.landed = true;
  desk_.tell<schema::Landed>(one.decode(), *one.plan,
                             [&](schema::Landed::Builder news) {
                               news.setRequest(one.request);
                               news.setOk(ok);
                             });
}

} // namespace perigee::prefill
