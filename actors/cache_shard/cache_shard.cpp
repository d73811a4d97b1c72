#include "actors/cache_shard/cache_shard.hpp"

#include "actors/asker.hpp"
#include "actors/cache_shard/announcer.hpp"
#include "actors/cache_shard/climb_book.hpp"
#include "actors/cache_shard/grant_book.hpp"
#include "actors/cache_shard/ssd_tier.hpp"
#include "actors/cache_shard/withheld_blocks.hpp"
#include "actors/cache_shard/words.hpp"
#include "actors/lost_writers.hpp"

#include <spdlog/logger.h>

#include <variant>

namespace perigee::shard {
namespace {

using std::chrono::nanoseconds;

// What the timers are for: see on_due().
enum timer : std::uint64_t { of_waits, of_lost, of_disk, timers };

class cache_shard_state {
public:
  using handle = shard_actor;
  static constexpr const char* name = "shard";

  cache_shard_state(handle::pointer self, const rt::world& in,
                    std::shared_ptr<dram_arena> arena, options how,
                    std::shared_ptr<probe> counts,
                    std::shared_ptr<transport::disk> below)
    : self_(self), desk_(self, in, name), log_(in.log->clone(name)), life_(in.life),
      arena_(std::move(arena)), how_(std::move(how)), probe_(std::move(counts)),
      ledger_(arena_->blocks(), make_eviction_policy(how_.eviction)), grants_(ledger_),
      announcer_(desk_, how_.conductor, how_.news_every,
                 [this](auto due) { tick_at(due); }),
      ids_(static_cast<std::uint64_t>(desk_.tag())),
      due_(
        how_.leases_max + how_.grants_max + how_.climbs_max,
        [this](auto due, auto epoch) { wake_at(due, epoch, of_waits); },
        [this](id which, const wait& over) {
          std::visit([&](const auto& one) { expire(which, one); }, over);
        }),
      lost_(
        desk_, ids_, how_.grants_max, how_.quiesce_limit,
        [this](auto due, auto epoch) { wake_at(due, epoch, of_lost); },
        [this](auto writer) { forget_writer(writer); }),
      climbs_(ledger_, how_.climbs_max, how_.climb_limit),
      withheld_(ledger_, owner_id{++ids_}) {
    if (below)
      below_.emplace(below_us(), std::move(below), make_eviction_policy(how_.eviction),
                     how_.spare_blocks);
    probe_->holds(ledger_.counts());
  }

  handle::behavior_type make_behavior() {
    return {
      desk_.on(this, &cache_shard_state::on_pin),
      desk_.on(this, &cache_shard_state::on_unpin),
      desk_.on(this, &cache_shard_state::on_reserve),
      desk_.on(this, &cache_shard_state::on_seal),
      desk_.on(this, &cache_shard_state::on_release),
      desk_.on(this, &cache_shard_state::on_withhold),
      desk_.on(this, &cache_shard_state::on_recount),
      desk_.on(this, &cache_shard_state::on_quiesced),
      desk_.on(this, &cache_shard_state::on_member),
      desk_.on(this, &cache_shard_state::on_due),
      desk_.on(this, &cache_shard_state::on_tick),
    };
  }

private:
  using id = std::uint64_t; // of leases, grants and questions; from the actor's tag on
  using writer_name = std::variant<prefill_name, decode_name>;

  // What ends at its deadline, or before.

  struct loan {
    rt::actor_tag reader;
    lease_id blocks;
  };
  struct writing {}; // of the grant of the same id
  struct climbing {  // the climb of the same id
    rt::actor_tag reader;
  };
  using wait = std::variant<loan, writing, climbing>;

  template <class T>
  static rt::actor_tag sender_of(const Msg<T>& heard) {
    return rt::actor_tag{heard->getHeader().getSender()};
  }

  void wait_for(id which, nanoseconds limit, wait what) {
    bool there_is_room = due_.put(which, desk_.now() + limit, what);
    PERIGEE_ASSERT(there_is_room, "leases and grants were counted");
  }

  // -- reading ----------------------------------------------------------------

  void on_pin(const Msg<schema::Pin>& wish) {
    auto reader = to_name<prefill_name>(wish->getAsker().getWho());
    if (wish->getAsker().getRole() != schema::Role::PREFILL
        || !desk_.is_from(reader, wish))
      return probe_->dropped_stale();
    if (ledger_.leases() >= how_.leases_max) {
      probe_->refused();
      return tell_pinned(reader, wish, [](auto said) { said.setBusy(); });
    }
    auto chain = to_chain(wish->getChain());
    auto found = ledger_.lend(chain);
    if (!begin_climb(wish, chain, found))
      answer_pin(wish, found, schema::Tier::DRAM);
    show();
  }

  void answer_pin(const Msg<schema::Pin>& wish,
                  const std::optional<block_ledger::lease>& found, schema::Tier tier) {
    auto reader = to_name<prefill_name>(wish->getAsker().getWho());
    if (!found) {
      probe_->missed();
      return tell_pinned(reader, wish, [](auto said) { said.setGone(); });
    }
    auto mine = ++ids_;
    wait_for(mine, how_.lease_limit + how_.transfer_limit,
             loan{sender_of(wish), found->id});
    probe_->pinned(found->blocks.size());
    tell_pinned(reader, wish, [&](schema::Pinned::Builder said) {
      set_lease(said, deed_of(mine, how_.lease_limit), found->blocks, tier);
    });
  }

  deed deed_of(id which, nanoseconds limit) const {
    return {which, life_, static_cast<std::uint64_t>(arena_->id()), limit};
  }

  template <class Fill>
  void tell_pinned(const prefill_name& reader, const Msg<schema::Pin>& wish,
                   Fill fill) {
    desk_.tell<schema::Pinned>(reader, wish, [&](schema::Pinned::Builder said) {
      said.setTicket(wish->getTicket());
      fill(said);
    });
  }

  void on_unpin(const Msg<schema::Unpin>& said) {
    const auto* open = due_.find(said->getLease());
    const auto* lent = open ? std::get_if<loan>(open) : nullptr;
    if (!lent || lent->reader != sender_of(said))
      return probe_->dropped_stale();
    ledger_.release(lent->blocks);
    due_.take(said->getLease());
    show();
  }

  void expire(id, const loan& lent) {
    ledger_.release(lent.blocks);
    probe_->lease_expired();
    show();
  }

  // -- the disk ---------------------------------------------------------------

  ssd_tier::surroundings below_us() {
    return {
      ledger_, *probe_, [this] { return owner_id{++ids_}; },
      [this](const auto& key, auto from, auto to) { announcer_.moved(key, from, to); },
      [this](auto due) { wake_at(due, 0, of_disk); }};
  }

  /// Of blocks that go without having been written to the disk.
  void evicted(const std::vector<block_key>& keys) {
    for (const auto& key : keys)
      announcer_.moved(key, place::dram, below_ ? below_->where(key) : place::gone);
    probe_->evicted(keys.size());
  }

  /// Has read what of `chain` follows upon what was `found`; false if nothing is.
  bool begin_climb(const Msg<schema::Pin>& wish, const block_chain& chain,
                   const std::optional<block_ledger::lease>& found) {
    if (!below_)
      return false;
    auto mine = ++ids_;
    if (!climbs_.begin(*below_, mine, wish, chain, found, desk_.now(),
                       [this, mine] { end_climb(mine); }))
      return false;
    wait_for(mine, climbs_.limit_of(wish), climbing{sender_of(wish)});
    return true;
  }

  void end_climb(id mine) {
    auto one = climbs_.take(mine);
    if (!one)
      return; // nobody waits any more: it is for the next
    due_.take(mine);
    answer_pin(one->wish, climbs_.lend_all(*one), schema::Tier::SSD);
  }

  /// What is in memory already must do.
  void expire(id mine, const climbing&) {
    auto late = climbs_.take(mine);
    probe_->ssd_was_slow();
    answer_pin(late->wish, late->held, schema::Tier::DRAM);
    show();
  }

  // -- writing ----------------------------------------------------------------

  void on_reserve(const Msg<schema::Reserve>& wish) {
    std::optional<writer_name> writer;
    with_asker(wish->getAsker(), [&]<class Name>(Name who) {
      if constexpr (!std::is_same_v<Name, shard_name>)
        if (desk_.is_from(who, wish))
          writer = who;
    });
    if (!writer)
      return probe_->dropped_stale();
    if (grants_.size() >= how_.grants_max)
      return refuse(*writer, wish);
    auto mine = ++ids_;
    auto got = reserve(owner_id{mine}, *wish);
    evicted(got.evicted);
    show();
    if (got.items.empty() && got.ran_out)
      return refuse(*writer, wish);
    if (!got.items.empty())
      open_grant(mine, sender_of(wish), got);
    tell_reserved(*writer, wish, [&](schema::Reserved::Builder said) {
      auto which = got.items.empty() ? 0 : mine;
      set_granted(said, deed_of(which, how_.grant_limit), got.items);
    });
  }

  block_ledger::reservation reserve(owner_id owner, schema::Reserve::Reader wish) {
    if (wish.getPrivateBlocks() > 0)
      return ledger_.reserve(owner, wish.getPrivateBlocks());
    auto keys = to_keys(wish.getKeys());
    return ledger_.reserve(owner, {to_key(wish.getParent()), wish.getDepth(), keys});
  }

  void open_grant(id mine, rt::actor_tag writer, const block_ledger::reservation& got) {
    grants_.open(mine, writer, got);
    wait_for(mine, how_.grant_limit, writing{});
    show();
  }

  void refuse(const writer_name& writer, const Msg<schema::Reserve>& wish) {
    probe_->refused();
    tell_reserved(writer, wish, [](schema::Reserved::Builder said) { said.setBusy(); });
  }

  template <class Fill>
  void tell_reserved(const writer_name& writer, const Msg<schema::Reserve>& wish,
                     Fill fill) {
    std::visit(
      [&](const auto& whom) {
        desk_.tell<schema::Reserved>(whom, wish, [&](schema::Reserved::Builder said) {
          said.setTicket(wish->getTicket());
          fill(said);
        });
      },
      writer);
  }

  void on_seal(const Msg<schema::Seal>& said) {
    auto which = said->getGrant();
    if (!grants_.is_writing(which, sender_of(said)))
      return probe_->dropped_stale();
    if (!said->getOk())
      return end_grant(which);
    due_.take(which);
    auto came = grants_.seal(which);
    for (const auto& key : came.stored)
      announcer_.moved(key, below_ && below_->has(key) ? place::ssd : place::gone,
                       place::dram);
    probe_->stored(came.stored.size());
    probe_->found_duplicates(came.duplicates);
    show();
  }

  void on_release(const Msg<schema::Release>& said) {
    if (!grants_.is_keeping(said->getGrant(), sender_of(said)))
      return probe_->dropped_stale();
    end_grant(said->getGrant());
  }

  /// Nobody writes or reads there any more.
  void end_grant(id which) {
    grants_.end(which);
    due_.take(which);
    show();
  }

  /// The writer may still write: only he, or his node, can say that he does not.
  void expire(id which, writing) {
    probe_->grant_overdue();
    log_->warn("writer_overdue blocks={} limit_ms={}", grants_.blocks_of(which),
               how_.grant_limit.count());
  }

  // -- room -------------------------------------------------------------------

  void on_withhold(const Msg<schema::Withhold>& wish) {
    if (!desk_.is_from(cluster_name{desk_.me().node, 0}, wish))
      return probe_->dropped_stale();
    withheld_.want(wish->getBlocks());
    show();
  }

  // -- those who are gone -----------------------------------------------------

  void on_member(const Msg<schema::Member>& news) {
    if (!desk_.is_from(cluster_name{desk_.me().node, 0}, news))
      return probe_->dropped_stale();
    if (news->getUp())
      return;
    rt::actor_tag gone{news->getTag()};
    due_.expire_if([gone](const wait& open) {
      const auto* waits = std::get_if<climbing>(&open);
      return waits && waits->reader == gone;
    });
    due_.expire_if([gone](const wait& open) {
      const auto* lent = std::get_if<loan>(&open);
      return lent && lent->reader == gone;
    });
    lose_writer(gone, news->getWho());
  }

  /// What it was granted stays its own until its movements are over.
  void lose_writer(rt::actor_tag gone, schema::ActorName::Reader who) {
    auto grants = grants_.count_of(gone);
    if (grants == 0 || lost_.contains(gone))
      return;
    log_->warn("writer_lost node={} index={} grants={}", who.getNode(), who.getIndex(),
               grants);
    if (!lost_.add(gone, node_index{who.getNode()}))
      log_->error("lost_writers_full");
  }

  void on_quiesced(const Msg<schema::Quiesced>& said) {
    if (!lost_.took(said))
      probe_->dropped_stale();
  }

  /// Nobody writes for it any more.
  void forget_writer(rt::actor_tag gone) {
    for (auto which : grants_.end_all_of(gone))
      due_.take(which);
    show();
  }

  // -- what the conductor is told ---------------------------------------------

  void on_tick(const Msg<schema::Tick>&) {
    announcer_.on_tick();
  }

  void on_recount(const Msg<schema::Recount>& wish) {
    if (!desk_.is_from(how_.conductor, wish))
      return probe_->dropped_stale();
    block_chain in_memory, on_disk;
    ledger_.each_key([&](const block_key& key) { in_memory.push_back(key); });
    if (below_)
      below_->each_key([&](const block_key& key) { on_disk.push_back(key); });
    announcer_.recount(in_memory, on_disk);
  }

  // ---------------------------------------------------------------------------

  void on_due(const Msg<schema::Due>& timer) {
    auto epoch = timer->getEpoch() / timers;
    switch (timer->getEpoch() % timers) {
      case of_waits: due_.on_timer(epoch, desk_.now()); break;
      case of_lost: lost_.on_timer(epoch); break;
      case of_disk:
        below_->run_to(desk_.now());
        show();
        break;
    }
  }

  void wake_at(nanoseconds due, std::uint64_t epoch, std::uint64_t table) {
    desk_.tell_after<schema::Due>(
      handle{self_}, due - desk_.now(), rt::unprompted,
      [&](auto timer) { timer.setEpoch(epoch * timers + table); });
  }

  void tick_at(nanoseconds due) {
    desk_.tell_after<schema::Tick>(handle{self_}, due - desk_.now(), rt::unprompted,
                                   [](auto) {});
  }

  /// What follows from what has just happened.
  void show() {
    evicted(withheld_.take_more());
    probe_->withholds(withheld_.blocks());
    if (below_) {
      below_->make_spare(desk_.now());
      probe_->ssd_holds(below_->counts());
    }
    announcer_.announce();
    probe_->holds(ledger_.counts());
  }

  handle::pointer self_;
  rt::desk<handle> desk_;
  std::shared_ptr<spdlog::logger> log_;
  std::uint64_t life_;
  std::shared_ptr<dram_arena> arena_;
  options how_;
  std::shared_ptr<probe> probe_;
  block_ledger ledger_;
  grant_book grants_;
  announcer announcer_;
  id ids_;                          // begins where no other incarnation's do
  rt::pending_table<id, wait> due_; // leases and grants, by id
  lost_writers<handle> lost_;
  std::optional<ssd_tier> below_;
  climb_book climbs_;
  withheld_blocks withheld_;
};

} // namespace

shard_actor start(const rt::world& in, rt::place where,
                  std::shared_ptr<dram_arena> arena, options how,
                  std::shared_ptr<probe> counts,
                  std::shared_ptr<transport::disk> below) {
  auto as_text
    = rt::arguments{to_string(how) + " blocks=" + std::to_string(arena->blocks())
                    + " slots=" + std::to_string(below ? below->slots() : 0)};
  return rt::spawn<cache_shard_state>(in, where, std::move(as_text), std::move(arena),
                                      std::move(how), std::move(counts),
                                      std::move(below));
}

} // namespace perigee::shard
