/// \file
/// coupled_state: what a coupled instance does. Of its own .cpp files alone.
///
/// coupled_arrival.cpp has how requests come; coupled_steps.cpp how they are computed
/// and answered; coupled_instance.cpp how they end, what the end of others means, what
/// the conductor is told, and time.
#pragma once

#include "actors/coupled_instance/cache_feed.hpp"
#include "actors/coupled_instance/coupled_instance.hpp"
#include "actors/coupled_instance/resident.hpp"
#include "actors/coupled_instance/schedule.hpp"
#include "actors/runtime/pending_table.hpp"
#include "actors/untold.hpp"

#include <map>
#include <set>

namespace perigee::coupled {

class coupled_state {
public:
  using handle = coupled_actor;
  static constexpr const char* name = "coupled";

  coupled_state(handle::pointer self, const rt::world& in, engine::arena_view arena,
                options how, std::shared_ptr<probe> counts);

  handle::behavior_type make_behavior();

private:
  using End = schema::End;

  // -- a request comes
  void on_prefill(const Msg<schema::Prefill>& plan);
  void on_prompt(const Msg<schema::Prompt>& part);
  resident* open(std::uint64_t request);
  bool is_sound(schema::Prefill::Reader plan) const;
  void refuse(const Msg<schema::Prefill>& plan);
  void keep_until(std::uint64_t request, moment span);
  void try_to_join(resident& one);
  void line_up(resident& one);

  // -- it is computed and answered
  /// What a batch gave one request.
  struct gift {
    std::vector<schema::Drawn::Reader> tokens;
    std::optional<std::uint32_t> stop;
    bool is_first = false;
  };
  using gifts = std::map<std::uint64_t, gift>; // by request

  bool pump();
  engine_name engine() const;
  rt::cause cause_of(const iteration& plan);
  void begin(const iteration& plan);
  void write_forward(schema::Forward::Builder wish, const iteration& plan);
  void write_work(schema::Forward::Work::Builder work, resident& one, const share& part,
                  std::uint32_t steps) const;
  static void write_begin(schema::Forward::Begin::Builder begin, const resident& one);
  void interrupt();
  void on_forwarded(const Msg<schema::Forwarded>& said);
  void fail_batch(const iteration& ran);
  void take_batch(const iteration& ran, schema::RunResult::Reader result);
  void take_scores(resident& one, schema::RunResult::Reader result);
  void take_draw(resident& one, schema::RunResult::One::Reader drawn, gifts& all);
  void pass_on(const gifts& all, schema::RunResult::Reader result);
  void write_gift(schema::Tokens::Run::Builder run, const resident& one,
                  const gift& got) const;
  void write_end(schema::Tokens::Run::Builder run, const resident& one, End how) const;

  // -- its end
  void end(resident& one, End how);
  void look_after(resident& one);
  void close(resident& one);
  void remember(std::uint64_t request);
  void settle();
  void on_deadline(std::uint64_t request);
  void on_cancel(const Msg<schema::Cancel>& wish);
  void tell_cancelled(const gateway_name& whom, std::uint64_t request,
                      const rt::cause& why);

  // -- who is there
  void on_member(const Msg<schema::Member>& news);

  // -- what the conductor is told, and time
  void on_recount(const Msg<schema::Recount>& wish);
  void report_first(resident& one);
  void changed();
  void on_tick(const Msg<schema::Tick>& timer);
  void report();
  void report_prefill();
  void report_decode();
  void show_holdings();
  void wake_at(moment due, std::uint64_t epoch, std::uint64_t table);
  void tick_at(moment due, std::uint64_t what);
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
  const scheduler schedule_;
  std::shared_ptr<probe> probe_;
  const std::uint32_t block_tokens_;

  request_line line_;
  std::map<std::uint64_t, resident> residents_; // by request
  std::set<std::uint64_t> touched_;             // residents that settle() looks after
  std::uint64_t tickets_;                       // begin where no other incarnation's do
  std::uint64_t forward_ticket_ = 0;            // of the Forward that is open
  iteration in_forward_;
  bool is_interrupted_ = false;

  report_pace pace_;
  cache_feed feed_;
  line_totals now_;                        // as of the last change of who is served
  std::optional<line_totals> told_;        // to the conductor
  untold<std::uint64_t> untold_prefilled_; // requests; to the conductor
  untold<std::uint64_t> untold_began_;
  untold<departure> untold_ended_;

  // Each has a timer: see on_due().
  rt::pending_table<std::uint64_t, char> deadlines_; // by request
  rt::pending_table<std::uint64_t, char> ended_;     // requests that are no more
};

} // namespace perigee::coupled
