/// \file
/// gateway_state: what a gateway's actor does. Of its own .cpp files alone.
///
/// gateway_arrival.cpp has how requests come and are placed; gateway.cpp their answers,
/// their ends, and time; gateway_losses.cpp who comes and goes.
#pragma once

#include "actors/gateway/cancellations.hpp"
#include "actors/gateway/draft_table.hpp"
#include "actors/gateway/gateway.hpp"
#include "actors/gateway/open_requests.hpp"
#include "actors/gateway/words.hpp"
#include "actors/runtime/desk.hpp"

#include <spdlog/logger.h>

namespace perigee::gateway {

class gateway_state {
public:
  using handle = gateway_actor;
  static constexpr const char* name = "gateway";

  gateway_state(handle::pointer self, const rt::world& in, std::shared_ptr<patron> whom,
                options how, std::shared_ptr<probe> counts);

  handle::behavior_type make_behavior();

private:
  using nanoseconds = std::chrono::nanoseconds;
  using numbered = open_requests::table::value_type;

  // -- a request comes
  void on_submit(const Msg<schema::Submit>& part);
  std::optional<api_error> cannot_take() const;
  draft_table::tokens take_draft(std::uint64_t stream);
  void begin(std::uint64_t stream, const Msg<schema::Submit>& wish);
  void place(open_request one, bool at_once = true);
  void arrive(std::uint64_t request, open_request& one);
  void fill(schema::Wish::Builder to, std::uint64_t request, const open_request& one);

  // -- is placed, or not
  void on_placed(const Msg<schema::Placed>& said);
  void on_plan(numbered& found, schema::Placed::Plan::Reader plan);
  bool tell_prompt(std::uint64_t request, const open_request& one);

  // -- and answered
  void on_prompt_scores(const Msg<schema::PromptScores>& said);
  void on_tokens(const Msg<schema::Tokens>& said);
  stream_news take_run(numbered& found, schema::Tokens::Run::Reader run,
                       std::span<const std::chrono::nanoseconds> ages);

  template <class T>
  bool is_prefilled_by(const open_request& one, const Msg<T>& said) {
    if (!one.where)
      return false;
    return one.where->is_coupled ? desk_.is_from(one.where->coupled(), said)
                                 : desk_.is_from(one.where->prefill, said);
  }

  bool is_served_by(const open_request& one, const Msg<schema::Tokens>& said);
  static bool is_lost_early(const open_request& one, schema::Tokens::Run::Reader run);
  void try_again(const open_request& one, schema::Tokens::Run::Reader run);

  // -- or ends otherwise
  void on_withdraw(const Msg<schema::Withdraw>& wish);
  void on_cancelled(const Msg<schema::Cancelled>& said);
  open_request close(std::uint64_t request);
  void refuse(std::uint64_t stream, api_error why);
  void fail(std::uint64_t request, api_error why);
  void tell_failure(std::uint64_t stream, api_error why);

  // -- who comes and goes
  void on_member(const Msg<schema::Member>& news);
  void arrive_all();
  void on_lost_placer(schema::Role role);
  template <class Name, class Is>
  void on_lost(const Name& who, bool decodes, Is is_at);
  void on_lost_instance(std::uint64_t request, bool decodes);
  void place_again(std::uint64_t request, bool at_once = true);

  // -- time, and the end of it
  void wake_at(nanoseconds due, std::uint64_t epoch);
  void on_due(const Msg<schema::Due>& timer);
  void on_deadline(const due_key& key);
  void on_drain(const Msg<schema::Drain>&);
  void settle();
  void count();

  rejector_name rejector() const {
    return {how_.control, 0};
  }
  conductor_name conductor() const {
    return {how_.control, 0};
  }

  handle::pointer self_;
  rt::desk<handle> desk_;
  std::shared_ptr<spdlog::logger> log_;
  std::shared_ptr<patron> patron_;
  const options how_;
  std::shared_ptr<probe> probe_;

  draft_table drafts_;
  open_requests requests_;
  deadlines deadlines_;
  cancellations cancelled_;
  bool conductor_is_lost_ = false;
  bool draining_ = false;
  bool drained_ = false;
};

} // namespace perigee::gateway
