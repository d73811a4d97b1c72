#include "actors/conductor/conductor.hpp"

#include "actors/conductor/conductor_state.hpp"
#include "actors/conductor/words.hpp"
#include "schemas/assert.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::conductor {
namespace {

constexpr std::size_t shards_max = 4096; // as many as a topology may have nodes

/// What a token of a prompt of middling length takes.
load_book::options with_token_time(const options& how) {
  constexpr std::uint64_t middling = 1024;
  auto book = how.book;
  book.prefill_token_ns
    = static_cast<double>(how.cost.prefill.time(middling, 0).count()) / middling;
  return book;
}

} // namespace

conductor_state::conductor_state(handle::pointer self, const rt::world& in, options how,
                                 std::shared_ptr<probe> counts)
  : self_(self), desk_(self, in, name), log_(in.log->clone(name)), how_(how),
    policy_(make_placement(
      how.placement,
      {.seed = rt::mix(in.seed ^ static_cast<std::uint64_t>(desk_.tag())),
       .kvcache_balancing_threshold = how.kvcache_balancing_threshold})),
    probe_(std::move(counts)), held_(how.keys_max, how.recount_limit),
    book_(with_token_time(how)), pace_(how.publish_every),
    recounts_(
      shards_max, [this](auto due, auto epoch) { wake_at(due, epoch, of_recounts); },
      [this](auto shard, char) { on_recount_late(shard); }) {
  PERIGEE_ASSERT(policy_, "a placement that there is");
  PERIGEE_ASSERT(!find_fault(how.cost), "a cost model without a fault");
  probe_->opened(held_);
}

conductor_state::~conductor_state() {
  probe_->closed(held_);
}

conductor_state::handle::behavior_type conductor_state::make_behavior() {
  return {
    desk_.on(this, &conductor_state::on_place),
    desk_.on(this, &conductor_state::on_cancel),
    desk_.on(this, &conductor_state::on_prefill_load),
    desk_.on(this, &conductor_state::on_decode_load),
    desk_.on(this, &conductor_state::on_stored),
    desk_.on(this, &conductor_state::on_evicted),
    desk_.on(this, &conductor_state::on_snapshot),
    desk_.on(this, &conductor_state::on_member),
    desk_.on(this, &conductor_state::on_apart),
    desk_.on(this, &conductor_state::on_due),
    desk_.on(this, &conductor_state::on_tick),
  };
}

// -- how busy they are --------------------------------------------------------

void conductor_state::on_prefill_load(const Msg<schema::PrefillLoad>& said) {
  auto who = to_name<prefill_name>(said->getWho());
  if (!is_from_group(said, who))
    return;
  auto ended = to_requests(said->getEnded());
  book_.hear(group_id{who.node, who.index},
             {.requests = said->getWaiting() + said->getRunning(),
              .queued_tokens = said->getQueuedTokens(),
              .ended = ended},
             desk_.now());
  book_changed();
}

void conductor_state::on_decode_load(const Msg<schema::DecodeLoad>& said) {
  auto who = to_name<decode_name>(said->getWho());
  if (!is_from_group(said, who))
    return;
  auto began = to_requests(said->getBegan());
  auto ended = to_ends(said->getEnded());
  book_.hear(instance_id{who.node, who.index},
             {.sequences = said->getSequences() + said->getWaiting(),
              .kv_tokens = said->getKvTokens(),
              .blocks_free = said->getBlocksFree(),
              .began = began,
              .ended = ended},
             desk_.now());
  book_changed();
}

/// The rejector hears of it, and the earliest expiry is waited for.
void conductor_state::book_changed() {
  probe_->holds(book_.size(), held_.keys());
  wait_for_expiry();
  if (pace_.changed(desk_.now()))
    return publish();
  if (auto due = pace_.take_tick())
    desk_.tell_after<schema::Tick>(handle{self_}, *due - desk_.now(), rt::unprompted,
                                   [](auto) {});
}

void conductor_state::on_tick(const Msg<schema::Tick>&) {
  pace_.ticked(desk_.now());
  publish();
}

void conductor_state::publish() {
  bool there = desk_.tell<schema::Book>(
    rejector(), rt::unprompted, [&](schema::Book::Builder copy) {
      set_book(copy, book_.all(), how_.cost.decode, desk_.now());
    });
  if (there)
    probe_->published();
}

void conductor_state::wait_for_expiry() {
  auto next = book_.next_expiry();
  if (!next || (expiry_ && *expiry_ <= *next))
    return;
  expiry_ = next;
  wake_at(*next, ++epoch_, of_expiry);
}

void conductor_state::wake_at(moment due, std::uint64_t epoch, std::uint64_t what) {
  desk_.tell_after<schema::Due>(
    handle{self_}, std::max(due - desk_.now(), nanoseconds{}), rt::unprompted,
    [&](schema::Due::Builder timer) { timer.setEpoch(epoch * timers + what); });
}

void conductor_state::on_due(const Msg<schema::Due>& timer) {
  auto epoch = timer->getEpoch() / timers;
  if (timer->getEpoch() % timers == of_recounts)
    return recounts_.on_timer(epoch, desk_.now());
  if (epoch == epoch_) // else it was replaced by an earlier one
    on_expiry();
}

void conductor_state::on_expiry() {
  expiry_.reset();
  auto expired = book_.expire(desk_.now());
  probe_->expired(expired);
  if (expired > 0)
    return book_changed();
  wait_for_expiry();
}

conductor_actor start(const rt::world& in, rt::place where, options how,
                      std::shared_ptr<probe> counts) {
  auto as_text = to_string(how);
  return rt::spawn<conductor_state>(in, where, rt::arguments{std::move(as_text)},
                                    std::move(how), std::move(counts));
}

} // namespace perigee::conductor
