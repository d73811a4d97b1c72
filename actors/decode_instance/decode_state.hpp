/// \file
/// decode_state: what a decode instance does. Of its own .cpp files alone.
///
/// decode_arrival.cpp has how requests come and are taken over; decode_steps.cpp how
/// they are answered, token by token; decode_pool.cpp how they leave a full arena and
/// come back, and what the pool gets in the end; decode_losses.cpp what the end of
/// others means to them; decode_instance.cpp how they end, reports, and time.
#pragma once

#include "actors/block_line.hpp"
#include "actors/cache_shard/block_ledger.hpp"
#include "actors/decode_instance/batch_plan.hpp"
#include "actors/decode_instance/decode_instance.hpp"
#include "actors/decode_instance/guest_book.hpp"
#include "actors/decode_instance/running_batch.hpp"
#include "actors/lost_writers.hpp"
#include "actors/report_pace.hpp"
#include "actors/untold.hpp"

#include <map>
#include <set>

namespace perigee::decode {

class decode_state {
public:
  using handle = decode_actor;
  static constexpr const char* name = "decode";

  decode_state(handle::pointer self, const rt::world& in, engine::arena_view arena,
               options how, std::shared_ptr<probe> counts);

  handle::behavior_type make_behavior();

private:
  using End = schema::End;

  // -- a request comes
  void on_expect(const Msg<schema::Expect>& news);
  void on_room(const Msg<schema::Room>& wish);
  void keep_until(const guest& one, std::uint64_t remaining_ns);
  void give_rooms();
  void give_room(guest& one);

  template <class Fill>
  void tell_roomed(const prefill_name& whom, std::uint64_t request,
                   const rt::cause& why, Fill fill) {
    desk_.tell<schema::Roomed>(whom, why, [&](schema::Roomed::Builder said) {
      said.setRequest(request);
      fill(said);
    });
  }

  // -- and is taken over
  void on_handoff(const Msg<schema::Handoff>& news);
  bool is_sound(schema::Handoff::Reader news, const guest& one) const;
  moment predict_with(const guest& newcomer) const;
  void refuse(guest& one, const Msg<schema::Handoff>& news, double load);
  void accept(guest& one, const Msg<schema::Handoff>& news);
  void tell_first(const guest& one);
  void on_landed(const Msg<schema::Landed>& news);

  template <class Fill>
  void tell_handed_off(const prefill_name& whom, const Msg<schema::Handoff>& news,
                       Fill fill) {
    desk_.tell<schema::HandedOff>(whom, news, [&](schema::HandedOff::Builder said) {
      said.setRequest(news->getRequest());
      fill(said);
    });
  }

  // -- it is answered
  /// What a run gave one request.
  struct gift {
    std::vector<schema::Drawn::Reader> tokens;
    std::optional<std::uint32_t> stop;
  };
  using gifts = std::map<std::uint64_t, gift>; // by request

  /// One who takes part in a run.
  struct taker {
    guest* who;
    gift* got = nullptr; ///< Null until there is something.
  };

  bool pump();
  engine_name engine() const;
  batch plan_next() const;
  void set_batch(const std::vector<std::uint64_t>& run);
  void grow(guest& one, std::uint32_t steps);
  void write_forward(schema::Forward::Builder wish, const batch& plan);
  void interrupt();
  void on_forwarded(const Msg<schema::Forwarded>& said);
  void fail_run(const std::vector<std::uint64_t>& run);
  void take_run(const std::vector<std::uint64_t>& run,
                schema::RunResult::Reader result);
  static void take_draw(taker& by, schema::RunResult::One::Reader drawn, gifts& all);
  void pass_on(const gifts& all, schema::RunResult::Reader result);
  void write_gift(schema::Tokens::Run::Builder run, const guest& one,
                  const gift& got) const;
  void write_end(schema::Tokens::Run::Builder run, const guest& one, End how) const;

  // -- it leaves a full arena, and comes back
  bool park_some(const batch& plan);
  void park(guest& one);
  void on_parked(guest& one, std::optional<kept_blocks> there);
  bool is_stuck(const batch& plan) const;
  void unstick();
  void bring_back();
  void bring_back(guest& one);
  void on_returned(guest& one, schema::MoveFault fault);
  void try_again_at(moment when);

  // -- its end
  void end(guest& one, End how);
  void look_after(guest& one);
  bool offer(guest& one);
  void close(guest& one);
  void remember(std::uint64_t request);
  void settle();
  void on_deadline(std::uint64_t request);
  void on_cancel(const Msg<schema::Cancel>& wish);
  void tell_cancelled(const gateway_name& whom, std::uint64_t request,
                      const rt::cause& why);

  // -- who is there
  void on_member(const Msg<schema::Member>& news);
  void lose_writer(rt::actor_tag writer, const prefill_name& whom);
  void lose_shard();
  void forget_writer(rt::actor_tag writer);
  void on_quiesced(const Msg<schema::Quiesced>& said);

  // -- what it is answered by others
  void on_reserved(const Msg<schema::Reserved>& said);
  void on_moved(const Msg<schema::Moved>& said);

  // -- blocks
  std::size_t blocks_for(std::size_t tokens) const;
  void take_blocks(guest& one, std::size_t blocks);
  void free_block(const guest& one, std::uint32_t block);
  void free_blocks_from(guest& one, std::size_t first);

  // -- reports, and time
  void changed();
  void on_tick(const Msg<schema::Tick>&);
  void report();
  std::uint32_t steps_taken() const;
  std::size_t blocks_free() const;
  void write_load(schema::DecodeLoad::Builder news);
  void show_holdings();
  void wake_at(moment due, std::uint64_t epoch, std::uint64_t table);
  void on_due(const Msg<schema::Due>& timer);

  /// Whether `heard` is from whoever is under `whom` now, in whose name it speaks.
  template <class T, class Handle>
  bool is_current(const Msg<T>& heard, const rt::name<Handle>& whom) {
    bool current = desk_.is_from(whom, heard);
    if (!current)
      probe_->dropped_stale();
    return current;
  }

  struct departure {
    std::uint64_t request;
    moment decoded; ///< For so long.
  };

  handle::pointer self_;
  rt::desk<handle> desk_;
  std::shared_ptr<spdlog::logger> log_;
  const options how_;
  std::shared_ptr<probe> probe_;
  const std::uint32_t block_tokens_;
  const std::size_t blocks_total_;

  shard::block_ledger ledger_;
  std::uint64_t tickets_; // begin where no other incarnation's do
  block_line line_;
  movements<handle> moves_;
  report_pace pace_;
  tbt_model tbt_;
  running_batch batch_;
  totals told_; // to the conductor

  guest_book guests_;
  std::set<std::uint64_t> touched_;   // guests that settle() looks after
  std::uint64_t forward_ticket_ = 0;  // of the Forward that is open
  std::vector<std::uint64_t> in_run_; // requests
  std::uint32_t steps_asked_ = 0;
  bool is_interrupted_ = false;
  moment park_at_{};                           // nobody is parked before
  std::optional<moment> stuck_since_;          // when nobody could run, nor leave
  std::vector<std::uint64_t> sequences_ended_; // the engine host shall forget them
  untold<std::uint64_t> untold_began_;         // requests; to the conductor
  untold<departure> untold_ended_;

  // Each has a timer: see on_due().
  rt::pending_table<std::uint64_t, char> deadlines_; // by request
  rt::pending_table<std::uint64_t, char> ended_;     // requests that are no more
  rt::pending_table<std::uint64_t, char> retries_;   // by moment
  lost_writers<handle> lost_;
  pool_writer<handle> pool_;
};

} // namespace perigee::decode
