#include "actors/cache_shard/cache_shard.hpp"

#include "actors/asker.hpp"
#include "actors/cache_shard/news.hpp"
#include "actors/report_pace.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/pending_table.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <variant>

namespace perigee::shard {
namespace {

using std::chrono::nanoseconds;

block_key to_key(schema::BlockKey::Reader from) {
  return {from.getHigh(), from.getLow()};
}

block_chain to_keys(capnp::List<schema::BlockKey>::Reader from) {
  block_chain keys;
  keys.reserve(from.size());
  for (auto key : from)
    keys.push_back(to_key(key));
  return keys;
}

void set_keys(capnp::List<schema::BlockKey>::Builder to,
              std::span<const block_key> keys) {
  for (unsigned i = 0; i < to.size(); ++i) {
    to[i].setHigh(keys[i].high);
    to[i].setLow(keys[i].low);
  }
}

std::uint64_t count_of(nanoseconds span) {
  return static_cast<std::uint64_t>(span.count());
}

class cache_shard_state {
public:
  using handle = shard_actor;
  static constexpr const char* name = "shard";

  cache_shard_state(handle::pointer self, const rt::world& in,
                    std::shared_ptr<dram_arena> arena, options how,
                    std::shared_ptr<probe> counts)
    : self_(self), desk_(self, in, name), log_(in.log->clone(name)), life_(in.life),
      arena_(std::move(arena)), how_(std::move(how)), probe_(std::move(counts)),
      ledger_(arena_->blocks(), make_eviction_policy(how_.eviction)),
      pace_(how_.news_every), ids_(static_cast<std::uint64_t>(desk_.tag())),
      due_(
        how_.leases_max + 2 * how_.grants_max,
        [this](auto due, auto epoch) { wake_at(due, epoch); },
        [this](id which, const wait& over) {
          std::visit([&](const auto& one) { expire(which, one); }, over);
        }) {
    probe_->holds(ledger_.counts());
  }

  handle::behavior_type make_behavior() {
    return {
      desk_.on(this, &cache_shard_state::on_pin),
      desk_.on(this, &cache_shard_state::on_unpin),
      desk_.on(this, &cache_shard_state::on_reserve),
      desk_.on(this, &cache_shard_state::on_seal),
      desk_.on(this, &cache_shard_state::on_release),
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

  /// Blocks that somebody writes, or has written and keeps.
  struct grant {
    rt::actor_tag writer;
    std::vector<block_number> blocks;
    bool is_kept = false;
  };

  // What ends at its deadline, or before.

  struct loan {
    rt::actor_tag reader;
    lease_id blocks;
  };
  struct writing {}; // of the grant of the same id
  struct lost_writer {
    rt::actor_tag who;
    node_index node; // where its movements are
  };
  using wait = std::variant<loan, writing, lost_writer>;

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
      return answer(reader, wish, [](auto said) { said.setBusy(); });
    }
    auto found = ledger_.lend(to_chain(wish->getChain()));
    if (!found) {
      probe_->missed();
      return answer(reader, wish, [](auto said) { said.setGone(); });
    }
    auto mine = ++ids_;
    wait_for(mine, how_.lease_limit + how_.transfer_limit,
             loan{sender_of(wish), found->id});
    probe_->pinned(found->blocks.size());
    show();
    answer(reader, wish, [&](schema::Pinned::Builder said) {
      auto lease = said.initLease();
      lease.setId(mine);
      lease.setLife(life_);
      lease.setSegment(static_cast<std::uint64_t>(arena_->id()));
      lease.setBlocks({found->blocks.data(), found->blocks.size()});
      lease.setExpiresInNs(count_of(how_.lease_limit));
      lease.setTier(schema::Tier::DRAM);
    });
  }

  template <class Fill>
  void answer(const prefill_name& reader, const Msg<schema::Pin>& wish, Fill fill) {
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
    for (const auto& key : got.evicted)
      news_.evicted(key);
    probe_->evicted(got.evicted.size());
    tell_news();
    if (got.items.empty() && got.ran_out)
      return refuse(*writer, wish);
    if (!got.items.empty())
      open_grant(mine, sender_of(wish), got);
    tell(*writer, wish, [&](schema::Reserved::Builder said) {
      auto granted = said.initGranted();
      granted.setId(got.items.empty() ? 0 : mine);
      granted.setLife(life_);
      granted.setSegment(static_cast<std::uint64_t>(arena_->id()));
      granted.setExpiresInNs(count_of(how_.grant_limit));
      auto items = granted.initItems(static_cast<unsigned>(got.items.size()));
      for (unsigned i = 0; i < items.size(); ++i) {
        items[i].setIndex(got.items[i].index);
        items[i].setBlock(got.items[i].block);
      }
    });
  }

  block_ledger::reservation reserve(owner_id owner, schema::Reserve::Reader wish) {
    if (wish.getPrivateBlocks() > 0)
      return ledger_.reserve(owner, wish.getPrivateBlocks());
    auto keys = to_keys(wish.getKeys());
    return ledger_.reserve(owner, {to_key(wish.getParent()), wish.getDepth(), keys});
  }

  void open_grant(id mine, rt::actor_tag writer, const block_ledger::reservation& got) {
    grant one{writer, {}};
    for (const auto& item : got.items)
      one.blocks.push_back(item.block);
    grants_.emplace(mine, std::move(one));
    wait_for(mine, how_.grant_limit, writing{});
    show();
  }

  void refuse(const writer_name& writer, const Msg<schema::Reserve>& wish) {
    probe_->refused();
    tell(writer, wish, [](schema::Reserved::Builder said) { said.setBusy(); });
  }

  template <class Fill>
  void tell(const writer_name& writer, const Msg<schema::Reserve>& wish, Fill fill) {
    std::visit(
      [&](const auto& whom) {
        desk_.tell<schema::Reserved>(whom, wish, [&](schema::Reserved::Builder said) {
          said.setTicket(wish->getTicket());
          fill(said);
        });
      },
      writer);
  }

  /// The grant `which`, if that is the sender's, and he keeps it or still writes it.
  template <class T>
  grant* grant_of(id which, const Msg<T>& said, bool is_kept) {
    auto at = grants_.find(which);
    if (at != grants_.end() && at->second.writer == sender_of(said)
        && at->second.is_kept == is_kept)
      return &at->second;
    probe_->dropped_stale();
    return nullptr;
  }

  void on_seal(const Msg<schema::Seal>& said) {
    auto* one = grant_of(said->getGrant(), said, false);
    if (!one)
      return;
    due_.take(said->getGrant());
    if (!said->getOk())
      return end_grant(said->getGrant());
    if (!seal(owner_id{said->getGrant()}, *one))
      grants_.erase(said->getGrant());
    tell_news();
    show();
  }

  /// Whether the writer keeps any of it.
  bool seal(owner_id owner, grant& one) {
    std::size_t stored = 0;
    for (auto block : one.blocks) {
      auto came = ledger_.seal(block, owner);
      PERIGEE_ASSERT(came, "a grant's block that is not its writer's");
      one.is_kept = *came == sealing::kept;
      stored += *came == sealing::stored;
      if (*came == sealing::stored)
        news_.stored(*ledger_.key_of(block));
      if (*came == sealing::duplicate)
        probe_->found_duplicate();
    }
    probe_->stored(stored);
    return one.is_kept;
  }

  void on_release(const Msg<schema::Release>& said) {
    if (grant_of(said->getGrant(), said, true))
      end_grant(said->getGrant());
  }

  /// Nobody writes or reads there any more.
  void end_grant(id which) {
    auto one = grants_.extract(which);
    for (auto block : one.mapped().blocks) {
      auto freed = ledger_.free(block, owner_id{which});
      PERIGEE_ASSERT(freed, "a grant's block that is not its writer's");
    }
    due_.take(which);
    show();
  }

  /// The writer may still write: only he, or his node, can say that he does not.
  void expire(id which, writing) {
    probe_->grant_overdue();
    log_->warn("writer_overdue blocks={} limit_ms={}", grants_.at(which).blocks.size(),
               how_.grant_limit.count());
  }

  // -- those who are gone -----------------------------------------------------

  void on_member(const Msg<schema::Member>& change) {
    if (change->getUp())
      return;
    rt::actor_tag gone{change->getTag()};
    due_.expire_if([gone](const wait& open) {
      const auto* lent = std::get_if<loan>(&open);
      return lent && lent->reader == gone;
    });
    auto grants = std::ranges::count_if(
      grants_, [=](const auto& entry) { return entry.second.writer == gone; });
    if (grants == 0 || !lost_.insert(gone).second)
      return;
    log_->warn("writer_lost node={} index={} grants={}", change->getWho().getNode(),
               change->getWho().getIndex(), grants);
    ask_to_quiesce({gone, node_index{change->getWho().getNode()}});
  }

  void ask_to_quiesce(const lost_writer& writer) {
    auto ticket = ++ids_;
    wait_for(ticket, how_.quiesce_limit, writer);
    // If nobody is there now, somebody will be when we ask again.
    desk_.tell<schema::Quiesce>(transfer_name{writer.node, 0}, rt::unprompted,
                                [&](schema::Quiesce::Builder ask) {
                                  set_asker(ask.initAsker(), desk_.me());
                                  ask.setTicket(ticket);
                                  ask.setWriter(static_cast<std::uint64_t>(writer.who));
                                });
  }

  void expire(id, const lost_writer& writer) {
    ask_to_quiesce(writer);
  }

  void on_quiesced(const Msg<schema::Quiesced>& said) {
    const auto* open = due_.find(said->getTicket());
    const auto* writer = open ? std::get_if<lost_writer>(open) : nullptr;
    if (!writer || !desk_.is_from(transfer_name{writer->node, 0}, said))
      return probe_->dropped_stale();
    auto gone = writer->who;
    due_.take(said->getTicket());
    lost_.erase(gone);
    std::vector<id> his;
    for (const auto& [which, one] : grants_)
      if (one.writer == gone)
        his.push_back(which);
    for (auto which : his)
      end_grant(which);
  }

  // -- what the conductor is told ---------------------------------------------

  void tell_news() {
    if (news_.empty())
      return;
    if (pace_.changed(desk_.now()))
      send_news();
    else if (auto tick = pace_.take_tick())
      desk_.tell_after<schema::Tick>(handle{self_}, *tick - desk_.now(), rt::unprompted,
                                     [](auto) {});
  }

  void on_tick(const Msg<schema::Tick>&) {
    pace_.ticked(desk_.now());
    send_news();
  }

  void send_news() {
    auto all = news_.take();
    in_parts(all.evicted, [&](auto part, bool) {
      tell_conductor<schema::Evicted>(part, [](auto) {});
    });
    in_parts(all.stored, [&](auto part, bool) {
      tell_conductor<schema::Stored>(part, [](auto) {});
    });
  }

  template <class T, class Fill>
  void tell_conductor(std::span<const block_key> keys, Fill fill) {
    constexpr bool is_news = !std::is_same_v<T, schema::Snapshot>;
    if constexpr (is_news)
      ++told_total_;
    desk_.tell<T>(how_.conductor, rt::unprompted, [&](typename T::Builder said) {
      set_name(said.initShard(), desk_.me());
      said.setNumber(told_total_);
      set_keys(said.initKeys(static_cast<unsigned>(keys.size())), keys);
      fill(said);
    });
  }

  /// Calls `use(part, is_last)`; not at all if there are no keys.
  template <class Use>
  static void in_parts(std::span<const block_key> keys, Use use) {
    while (!keys.empty()) {
      auto part = keys.first(std::min(keys.size(), prompt_blocks_max));
      keys = keys.subspan(part.size());
      use(part, keys.empty());
    }
  }

  void on_recount(const Msg<schema::Recount>& wish) {
    if (!desk_.is_from(how_.conductor, wish))
      return probe_->dropped_stale();
    send_news(); // so that the count holds up to a number
    block_chain keys;
    ledger_.each_key([&](const block_key& key) { keys.push_back(key); });
    std::uint32_t parts = 0;
    auto send = [&](std::span<const block_key> part, bool is_last) {
      tell_conductor<schema::Snapshot>(part, [&](schema::Snapshot::Builder said) {
        said.setPart(parts++);
        said.setLast(is_last);
      });
    };
    in_parts(keys, send);
    if (keys.empty())
      send({}, true);
  }

  // ---------------------------------------------------------------------------

  void on_due(const Msg<schema::Due>& timer) {
    due_.on_timer(timer->getEpoch(), desk_.now());
  }

  void wake_at(nanoseconds due, std::uint64_t epoch) {
    desk_.tell_after<schema::Due>(handle{self_}, due - desk_.now(), rt::unprompted,
                                  [&](auto timer) { timer.setEpoch(epoch); });
  }

  void show() {
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
  news news_;
  report_pace pace_;
  std::uint64_t told_total_ = 0;    // Stored and Evicted
  id ids_;                          // begins where no other incarnation's do
  std::map<id, grant> grants_;      // ordered: every walk is repeatable
  std::set<rt::actor_tag> lost_;    // writers whose movements are being ended
  rt::pending_table<id, wait> due_; // leases, grants and questions, by id
};

} // namespace

std::string to_string(const options& how) {
  auto text = [](const char* key, auto value) {
    return std::string{key} + '=' + std::to_string(value);
  };
  return "eviction=" + how.eviction + text(" lease_limit_ms", how.lease_limit.count())
         + text(" grant_limit_ms", how.grant_limit.count())
         + text(" transfer_limit_ms", how.transfer_limit.count())
         + text(" quiesce_limit_ms", how.quiesce_limit.count())
         + text(" leases_max", how.leases_max) + text(" grants_max", how.grants_max)
         + text(" conductor_node", static_cast<unsigned>(how.conductor.node))
         + text(" news_every_ms", how.news_every.count());
}

shard_actor start(const rt::world& in, rt::place where,
                  std::shared_ptr<dram_arena> arena, options how,
                  std::shared_ptr<probe> counts) {
  auto as_text
    = rt::arguments{to_string(how) + " blocks=" + std::to_string(arena->blocks())};
  return rt::spawn<cache_shard_state>(in, where, std::move(as_text), std::move(arena),
                                      std::move(how), std::move(counts));
}

} // namespace perigee::shard
