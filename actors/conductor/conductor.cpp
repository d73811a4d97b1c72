#include "actors/conductor/conductor.hpp"

#include "actors/conductor/holdings.hpp"
#include "actors/conductor/plan_words.hpp"
#include "actors/conductor/words.hpp"
#include "actors/report_pace.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/pending_table.hpp"
#include "schemas/assert.hpp"
#include "schemas/convert.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::conductor {
namespace {

/// To be asked again soon: an instance is being replaced, or a request will end.
constexpr nanoseconds soon = std::chrono::seconds{1};

constexpr std::size_t shards_max = 4096; // as many as a topology may have nodes

// What the timers are for: see on_due().
enum timer : std::uint64_t { of_expiry, of_recounts, timers };

prefill_name name_of(const group_id& who) {
  return {who.node, who.index};
}

decode_name name_of(const instance_id& who) {
  return {who.node, who.index};
}

/// As which a group is known where it decodes, too.
coupled_name coupled_name_of(const group_id& who) {
  return {who.node, who.index};
}

/// A shard's node; a node has one shard.
node_index node_of(schema::ActorName::Reader shard) {
  return node_index{shard.getNode()};
}

/// What a token of a prompt of middling length takes.
load_book::options with_token_time(const options& how) {
  constexpr std::uint64_t middling = 1024;
  auto book = how.book;
  book.prefill_token_ns
    = static_cast<double>(how.cost.prefill.time(middling, 0).count()) / middling;
  return book;
}

class conductor_state {
public:
  using handle = conductor_actor;
  static constexpr const char* name = "conductor";

  conductor_state(handle::pointer self, const rt::world& in, options how,
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
  ~conductor_state() {
    probe_->closed(held_);
  }
  conductor_state(const conductor_state&) = delete;
  conductor_state& operator=(const conductor_state&) = delete;

  handle::behavior_type make_behavior() {
    return {
      desk_.on(this, &conductor_state::on_place),
      desk_.on(this, &conductor_state::on_cancel),
      desk_.on(this, &conductor_state::on_prefill_load),
      desk_.on(this, &conductor_state::on_decode_load),
      desk_.on(this, &conductor_state::on_stored),
      desk_.on(this, &conductor_state::on_evicted),
      desk_.on(this, &conductor_state::on_snapshot),
      desk_.on(this, &conductor_state::on_member),
      desk_.on(this, &conductor_state::on_due),
      desk_.on(this, &conductor_state::on_tick),
    };
  }

private:
  // -- placing ----------------------------------------------------------------

  void on_place(const Msg<schema::Place>& asked) {
    if (!is_current(asked, rejector()))
      return;
    auto wanted = asked->getWish();
    if (!is_sound(wanted))
      return probe_->dropped_malformed();
    auto chain = to_chain(wanted.getChain());
    auto runs = held_.runs(chain);
    // Who is not there any more, though nobody said so yet, is left out at the next
    // try.
    while (!try_to_place(asked, runs)) {
    }
  }

  /// False if the group that was chosen is lost, which is known now.
  bool try_to_place(const Msg<schema::Place>& asked, std::span<const run> runs) {
    auto wanted = to_wish(asked->getWish(), how_.ttft_limit, how_.tbt_limit);
    scene here{desk_.now(), book_.all(), runs, how_.cost, how_.coupled};
    auto chosen = policy_->choose(wanted, here);
    if (!chosen) {
      refuse(asked, {reason::no_instance, 0, soon});
      return true;
    }
    if (auto why = find_shortfall(*chosen, wanted, here, how_.wanted)) {
      refuse(asked, *why);
      return true;
    }
    if (!book_.place(to_placement(*chosen, asked->getWish(), desk_.now(), how_.grace),
                     desk_.now())) {
      refuse(asked, {reason::queue_full, 1, soon});
      return true;
    }
    if (!tell_group(asked, *chosen)) {
      lose(chosen->prefill);
      if (how_.coupled)
        lose(chosen->decode);
      return false;
    }
    if (!how_.coupled)
      tell_instance(asked, *chosen);
    tell_gateway(asked, *chosen);
    auto is_remote = chosen->source != chosen->prefill.node;
    probe_->placed(chosen->reuse_blocks, is_remote ? chosen->reuse_blocks : 0);
    book_changed();
    return true;
  }

  bool tell_group(const Msg<schema::Place>& asked, const plan& chosen) {
    auto fill
      = [&](schema::Prefill::Builder work) { set_prefill(work, chosen, *asked); };
    return how_.coupled
             ? desk_.tell<schema::Prefill>(coupled_name_of(chosen.prefill), asked, fill)
             : desk_.tell<schema::Prefill>(name_of(chosen.prefill), asked, fill);
  }

  /// One that is not there will be found missing by the group.
  void tell_instance(const Msg<schema::Place>& asked, const plan& chosen) {
    if (asked->getWish().getTokensMax() > 1)
      desk_.tell<schema::Expect>(name_of(chosen.decode), asked,
                                 [&](schema::Expect::Builder news) {
                                   set_expect(news, chosen, asked->getWish());
                                 });
  }

  void tell_gateway(const Msg<schema::Place>& asked, const plan& chosen) {
    answer(asked, [&](schema::Placed::Builder said) {
      set_plan(said.initPlaced(), chosen, how_.coupled);
    });
  }

  void refuse(const Msg<schema::Place>& asked, const refusal& why) {
    probe_->refused(why.why);
    answer(asked,
           [&](schema::Placed::Builder said) { set_refusal(said.initRefused(), why); });
  }

  /// A gateway that is gone needs no answer.
  template <class Fill>
  void answer(const Msg<schema::Place>& asked, Fill fill) {
    auto wanted = asked->getWish();
    desk_.tell<schema::Placed>(to_name<gateway_name>(wanted.getGateway()), asked,
                               [&](schema::Placed::Builder said) {
                                 said.setRequest(wanted.getRequest());
                                 fill(said);
                               });
  }

  /// Of a request that was never placed, or has ended, there is nothing to hold.
  void on_cancel(const Msg<schema::Cancel>& wish) {
    if (book_.end(request_id{wish->getRequest()}, desk_.now())) {
      probe_->cancelled();
      book_changed();
    }
    desk_.tell<schema::Cancelled>(to_name<gateway_name>(wish->getGateway()), wish,
                                  [&](schema::Cancelled::Builder said) {
                                    said.setRequest(wish->getRequest());
                                    said.setBy(schema::Role::CONDUCTOR);
                                  });
  }

  // -- how busy they are ------------------------------------------------------

  void on_prefill_load(const Msg<schema::PrefillLoad>& said) {
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

  void on_decode_load(const Msg<schema::DecodeLoad>& said) {
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
  void book_changed() {
    probe_->holds(book_.size(), held_.keys());
    wait_for_expiry();
    if (pace_.changed(desk_.now()))
      return publish();
    if (auto due = pace_.take_tick())
      desk_.tell_after<schema::Tick>(handle{self_}, *due - desk_.now(), rt::unprompted,
                                     [](auto) {});
  }

  void on_tick(const Msg<schema::Tick>&) {
    pace_.ticked(desk_.now());
    publish();
  }

  void publish() {
    bool there = desk_.tell<schema::Book>(
      rejector(), rt::unprompted, [&](schema::Book::Builder copy) {
        set_book(copy, book_.all(), how_.cost.decode, desk_.now());
      });
    if (there)
      probe_->published();
  }

  void wait_for_expiry() {
    auto next = book_.next_expiry();
    if (!next || (expiry_ && *expiry_ <= *next))
      return;
    expiry_ = next;
    wake_at(*next, ++epoch_, of_expiry);
  }

  void wake_at(moment due, std::uint64_t epoch, std::uint64_t what) {
    desk_.tell_after<schema::Due>(
      handle{self_}, std::max(due - desk_.now(), nanoseconds{}), rt::unprompted,
      [&](schema::Due::Builder timer) { timer.setEpoch(epoch * timers + what); });
  }

  void on_due(const Msg<schema::Due>& timer) {
    auto epoch = timer->getEpoch() / timers;
    if (timer->getEpoch() % timers == of_recounts)
      return recounts_.on_timer(epoch, desk_.now());
    if (epoch == epoch_) // else it was replaced by an earlier one
      on_expiry();
  }

  void on_expiry() {
    expiry_.reset();
    auto expired = book_.expire(desk_.now());
    probe_->expired(expired);
    if (expired > 0)
      return book_changed();
    wait_for_expiry();
  }

  // -- who holds what ---------------------------------------------------------

  void on_stored(const Msg<schema::Stored>& news) {
    auto shard = node_of(news->getShard());
    if (is_from_holder(news, shard))
      heed(shard, held_.stored(shard, news->getNumber(), to_tier(news->getTier()),
                               to_keys(news->getKeys()), desk_.now()));
  }

  void on_evicted(const Msg<schema::Evicted>& news) {
    auto shard = node_of(news->getShard());
    if (is_from_holder(news, shard))
      heed(shard, held_.evicted(shard, news->getNumber(), to_keys(news->getKeys()),
                                desk_.now()));
  }

  void on_snapshot(const Msg<schema::Snapshot>& news) {
    auto shard = node_of(news->getShard());
    if (!is_from_holder(news, shard))
      return;
    wait_for_recount(shard); // for what is still to come
    heed(shard, held_.recounted(
                  shard, {news->getNumber(), news->getPart(), news->getLast()},
                  to_tier(news->getTier()), to_keys(news->getKeys()), desk_.now()));
    if (!held_.awaits_recount(shard))
      recounts_.take(shard);
  }

  void heed(node_index shard, const holdings::outcome& what) {
    probe_->left_out(what.left_out);
    if (what.asks_recount)
      ask_for_recount(shard);
  }

  void ask_for_recount(node_index shard) {
    probe_->asked_for_recount();
    if (how_.coupled)
      desk_.tell<schema::Recount>(coupled_name{shard}, rt::unprompted, [](auto) {});
    else
      desk_.tell<schema::Recount>(shard_name{shard}, rt::unprompted, [](auto) {});
    wait_for_recount(shard);
  }

  void wait_for_recount(node_index shard) {
    recounts_.take(shard);
    if (!recounts_.put(shard, desk_.now() + how_.recount_limit, {}))
      log_->debug("recounts_full"); // its news will ask
  }

  void on_recount_late(node_index shard) {
    if (held_.asks_again(shard, desk_.now()))
      return ask_for_recount(shard);
    if (held_.awaits_recount(shard))
      log_->warn("shard_silent node={}", static_cast<unsigned>(shard));
  }

  // -- who is there -----------------------------------------------------------

  void on_member(const Msg<schema::Member>& news) {
    auto who = news->getWho();
    switch (news->getRole()) {
      case schema::Role::PREFILL:
        return seat(to_name<prefill_name>(who), news->getUp());
      case schema::Role::DECODE: return seat(to_name<decode_name>(who), news->getUp());
      case schema::Role::COUPLED:
        return seat(to_name<coupled_name>(who), news->getUp());
      case schema::Role::SHARD: return seat_shard(node_of(who), news->getUp());
      case schema::Role::REJECTOR:
        if (news->getUp())
          publish(); // it begins without a copy
        return;
      default: return;
    }
  }

  void seat(const prefill_name& who, bool up) {
    group_id group{who.node, who.index};
    lose(group);
    if (up)
      book_.seat(group, desk_.now());
    book_changed();
  }

  void seat(const decode_name& who, bool up) {
    instance_id instance{who.node, who.index};
    lose(instance);
    if (up)
      book_.seat(instance, desk_.now());
    book_changed();
  }

  /// It is a group, an instance, and a holder of prefixes.
  void seat(const coupled_name& who, bool up) {
    seat(prefill_name{who.node, who.index}, up);
    seat(decode_name{who.node, who.index}, up);
    seat_shard(who.node, up);
  }

  void lose(const instance_id& instance) {
    probe_->lost(book_.lose(instance, desk_.now()));
  }

  void lose(const group_id& group) {
    probe_->lost(book_.lose(group, desk_.now()));
  }

  void seat_shard(node_index shard, bool up) {
    auto blocks = held_.lose(shard);
    if (blocks > 0)
      log_->info("shard_forgotten node={} blocks={}", static_cast<unsigned>(shard),
                 blocks);
    recounts_.take(shard);
    if (!up)
      return;
    held_.seat(shard, desk_.now());
    ask_for_recount(shard);
  }

  /// The one beside us: it alone asks us to place, and has our book.
  rejector_name rejector() const {
    return {desk_.me().node, 0};
  }

  /// Whether `heard` is from the group or instance that has that name now.
  template <class T, class Handle>
  bool is_from_group(const Msg<T>& heard, const rt::name<Handle>& whom) {
    return how_.coupled ? is_current(heard, coupled_name{whom.node, whom.index})
                        : is_current(heard, whom);
  }

  /// Whether `heard` is from who keeps prefixes on that node now.
  template <class T>
  bool is_from_holder(const Msg<T>& heard, node_index node) {
    return how_.coupled ? is_current(heard, coupled_name{node, 0})
                        : is_current(heard, shard_name{node});
  }

  /// Whether `heard` is from whoever is under `whom` now. Else it is to be dropped.
  template <class T, class Handle>
  bool is_current(const Msg<T>& heard, const rt::name<Handle>& whom) {
    bool current = desk_.is_from(whom, heard);
    if (!current)
      probe_->dropped_stale();
    return current;
  }

  handle::pointer self_;
  rt::desk<handle> desk_;
  std::shared_ptr<spdlog::logger> log_;
  options how_;
  std::unique_ptr<placement_policy> policy_;
  std::shared_ptr<probe> probe_;
  holdings held_;
  load_book book_;
  report_pace pace_;
  std::optional<moment> expiry_; // the Due of epoch_ is on its way
  std::uint64_t epoch_ = 0;
  rt::pending_table<node_index, char> recounts_; // that were asked for, by shard
};

} // namespace

conductor_actor start(const rt::world& in, rt::place where, options how,
                      std::shared_ptr<probe> counts) {
  auto as_text = to_string(how);
  return rt::spawn<conductor_state>(in, where, rt::arguments{std::move(as_text)},
                                    std::move(how), std::move(counts));
}

} // namespace perigee::conductor
