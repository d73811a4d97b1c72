/// \file
/// prefill_state: what a prefill group does. Of its own .cpp files alone.
///
/// prefill_arrival.cpp has how requests come and get blocks; prefill_fetch.cpp how what
/// the pool has of them is fetched; prefill_compute.cpp how the rest is computed;
/// prefill_delivery.cpp how their KV and they leave; prefill_losses.cpp what the end of
/// others means to them; prefill_group.cpp how they end, reports, and time.
#pragma once

#include "actors/block_line.hpp"
#include "actors/cache_shard/block_ledger.hpp"
#include "actors/movements.hpp"
#include "actors/pool_writer.hpp"
#include "actors/prefill_group/job_book.hpp"
#include "actors/prefill_group/load_pace.hpp"
#include "actors/prefill_group/prefill_group.hpp"
#include "actors/prefill_group/prefill_queue.hpp"
#include "actors/report_pace.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/pending_table.hpp"
#include "actors/untold.hpp"

#include <set>

namespace perigee::prefill {

class prefill_state {
public:
  using handle = prefill_actor;
  static constexpr const char* name = "prefill";

  prefill_state(handle::pointer self, const rt::world& in, engine::arena_view arena,
                std::shared_ptr<transport::gate_board> gates, options how,
                std::shared_ptr<probe> counts);

  handle::behavior_type make_behavior();

private:
  using End = schema::End;
  using chunk = std::vector<share>;

  // -- a request comes
  void on_prefill(const Msg<schema::Prefill>& plan);
  void on_prompt(const Msg<schema::Prompt>& part);
  bool is_sound(schema::Prefill::Reader plan) const;
  void refuse(const Msg<schema::Prefill>& plan);
  void keep_until(job& one, moment span);
  void expire_at(const job& one, moment when);
  void try_to_join(job& one);
  std::size_t blocks_for(const job& one) const;
  void admit();

  // -- is fetched, as far as the pool has it
  void fetch_or_compute(job& one);
  void on_pinned(const Msg<schema::Pinned>& said);
  void on_pin_expired(std::uint64_t request);
  bool fetch(job& one, schema::Lease::Reader lent);
  gate_ptr open_gate();
  void on_fetched(job& one, schema::MoveFault fault);
  void keep_fetched(job& one);
  void compute_rest(job& one);
  void unpin(job& one);
  void hold_back(const job& one);
  void may_begin(std::uint64_t ticket, std::uint64_t request);
  void forget_loading(std::uint64_t ticket);
  chunk first_of_loading();
  bool has_starved(const job& one, schema::EngineFault fault) const;
  void start_over(job& one);

  // -- and is computed
  void compute(job& one);
  bool pump();
  engine_name engine() const;
  rt::cause cause_of(const chunk& some) const;
  gate_ptr open_gate(const chunk& some);
  void begin_share(job& one, std::uint32_t tokens, const gate_ptr& gate);
  void write_forward(schema::Forward::Builder wish, const chunk& some);
  void on_forwarded(const Msg<schema::Forwarded>& said);
  bool is_loading(const chunk& some) const;
  void take_chunk(schema::RunResult::Reader result);
  void see_pace(const chunk& some);
  void take_share(job& one, schema::RunResult::Reader result);
  void fail_chunk(const chunk& some);
  void tell_scores(const job& one, schema::RunResult::Scores::Reader scores);

  // -- its KV goes to the decode instance and to the pool
  void ask_room(job& one);
  void on_roomed(const Msg<schema::Roomed>& said);
  schema::End end_of_gone(const job& one) const;
  void give_room(job& one, schema::Roomed::Given::Reader room);
  void send_ready(job& one);
  void push(job& one, block_range some, const gate_ptr& gate);
  void store(job& one, block_range some, const gate_ptr& gate);
  void on_reserved(const Msg<schema::Reserved>& said);
  void on_moved(const Msg<schema::Moved>& said);

  // -- and it is handed over
  void hand_over(job& one, schema::RunResult::One::Reader first);
  void answer_alone(job& one, schema::RunResult::One::Reader first);
  void on_handed_off(const Msg<schema::HandedOff>& said);
  void land(job& one, bool ok);

  // -- its end
  void end(job& one, End how);
  void look_after(job& one);
  void close(job& one);
  void remember(std::uint64_t request);
  void settle();
  void on_deadline(std::uint64_t request);
  void on_cancel(const Msg<schema::Cancel>& wish);
  void tell_cancelled(const gateway_name& whom, std::uint64_t request,
                      const rt::cause& why);

  template <class Fill>
  void tell_end(const job& one, End how, Fill fill) {
    desk_.tell<schema::Tokens>(one.gateway(), *one.plan,
                               [&](schema::Tokens::Builder news) {
                                 auto run = news.initRuns(1)[0];
                                 run.setRequest(one.request);
                                 run.setEnd(how);
                                 run.setCachedTokens(one.cached);
                                 run.setStages((*one.plan)->getStages());
                                 one.times.write(run.getStages(), desk_.now());
                                 fill(run);
                               });
  }

  // -- who is there
  void on_member(const Msg<schema::Member>& news);
  template <class Is>
  void end_all(End how, Is is);

  // -- reports, and time
  void report_end(job& one);
  void changed();
  void on_tick(const Msg<schema::Tick>&);
  void report();
  void write_load(schema::PrefillLoad::Builder news) const;
  void show_holdings();
  void wake_at(moment due, std::uint64_t epoch, std::uint64_t table);
  void on_due(const Msg<schema::Due>& timer);

  std::uint64_t remaining(const job& one) const;

  /// Whether `heard` is from whoever is under `whom` now, in whose name it speaks.
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
  const options how_;
  std::shared_ptr<probe> probe_;
  std::shared_ptr<transport::gate_board> gates_;
  const std::uint32_t block_tokens_;
  const std::size_t blocks_total_;

  shard::block_ledger ledger_;
  std::uint64_t tickets_; // begin where no other incarnation's do
  std::uint64_t owners_ = 0;
  block_line line_;
  prefill_queue queue_;
  movements<handle> moves_;
  report_pace pace_;

  job_book jobs_;
  std::set<std::uint64_t> touched_; // jobs that settle() looks after
  load_pace load_pace_;
  std::map<std::uint64_t, std::uint64_t>
    loading_;                        // by their fetch's ticket: see pump()
  std::uint64_t forward_ticket_ = 0; // of the Forward that is open
  chunk in_forward_;
  moment forward_began_{};
  std::optional<Msg<schema::Forwarded>> held_; // its answer, until the fetch has one
  std::vector<std::uint64_t> sequences_ended_; // the engine host shall forget them
  untold<std::uint64_t> untold_ended_;         // requests; to the conductor

  // Each has a timer: see on_due().
  rt::pending_table<std::uint64_t, char> deadlines_;     // by request
  rt::pending_table<std::uint64_t, char> ended_;         // requests that are no more
  rt::pending_table<std::uint64_t, std::uint64_t> pins_; // requests, by ticket
  rt::pending_table<std::uint64_t, std::uint64_t> held_back_; // until in loading_
  pool_writer<handle> pool_;
};

} // namespace perigee::prefill
