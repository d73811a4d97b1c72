#include "actors/gateway/gateway.hpp"

#include "actors/gateway/gateway_state.hpp"
#include "actors/gateway/run_account.hpp"
#include "schemas/convert.hpp"

#include <utility>

namespace perigee::gateway {

gateway_state::gateway_state(handle::pointer self, const rt::world& in,
                             std::shared_ptr<patron> whom, options how,
                             std::shared_ptr<probe> counts)
  : self_(self), desk_(self, in, name), log_(in.log->clone(name)),
    patron_(std::move(whom)), how_(how), probe_(std::move(counts)),
    requests_(static_cast<std::uint64_t>(desk_.tag())),
    deadlines_(
      4 * how.requests_max, [this](auto due, auto epoch) { wake_at(due, epoch); },
      [this](const due_key& key, nothing) { on_deadline(key); }),
    cancelled_(desk_, deadlines_, *probe_, how.control, 2 * how.requests_max,
               how.cancel_limit) {}

auto gateway_state::make_behavior() -> handle::behavior_type {
  patron_->opened(handle{self_});
  return {
    desk_.on(this, &gateway_state::on_submit),
    desk_.on(this, &gateway_state::on_withdraw),
    desk_.on(this, &gateway_state::on_placed),
    desk_.on(this, &gateway_state::on_prompt_scores),
    desk_.on(this, &gateway_state::on_tokens),
    desk_.on(this, &gateway_state::on_cancelled),
    desk_.on(this, &gateway_state::on_member),
    desk_.on(this, &gateway_state::on_drain),
    desk_.on(this, &gateway_state::on_due),
  };
}

// -- its answer comes ---------------------------------------------------------

void gateway_state::on_prompt_scores(const Msg<schema::PromptScores>& said) {
  auto found = requests_.find(said->getRequest());
  if (!found || !is_prefilled_by(found->second, said))
    return probe_->dropped_stale();
  patron_->hear(prompt_scores{found->second.stream, said->getFirstToken(),
                              to_sampled(said->getScores())});
}

void gateway_state::on_tokens(const Msg<schema::Tokens>& said) {
  std::vector<stream_news> all;
  auto ages = ages_of(said->getStepNs());
  for (auto run : said->getRuns()) {
    auto found = requests_.find(run.getRequest());
    if (!found || !is_served_by(found->second, said))
      probe_->dropped_stale();
    else if (is_lost_early(found->second, run))
      try_again(found->second, run);
    else
      all.push_back(take_run(*found, run, ages));
  }
  if (!all.empty())
    patron_->hear(std::move(all));
  settle();
}

stream_news gateway_state::take_run(numbered& found, schema::Tokens::Run::Reader run,
                                    std::span<const std::chrono::nanoseconds> ages) {
  auto& [request, one] = found;
  auto news = account_for(one, run, ages, desk_.now(), *probe_);
  if (one.answer_tokens > 0)
    requests_.run(one);
  if (run.getEnd() != schema::End::NONE)
    close(request);
  return news;
}

bool gateway_state::is_served_by(const open_request& one,
                                 const Msg<schema::Tokens>& said) {
  return is_prefilled_by(one, said)
         || (one.where && !one.where->is_coupled
             && desk_.is_from(one.where->decode, said));
}

/// Before the client saw anything of it.
bool gateway_state::is_lost_early(const open_request& one,
                                  schema::Tokens::Run::Reader run) {
  auto end = run.getEnd();
  return (end == schema::End::ACTOR_LOST || end == schema::End::TRANSFER_FAILED)
         && one.answer_tokens == 0 && run.getTokens().size() == 0;
}

/// Or not: then it is cancelled, for whoever says so may not reach the others.
void gateway_state::try_again(const open_request& one,
                              schema::Tokens::Run::Reader run) {
  if (one.attempts >= how_.attempts_max)
    return fail(run.getRequest(), to_error(run));
  place_again(run.getRequest(), one.attempts + 1 < how_.attempts_max);
}

// -- it ends otherwise --------------------------------------------------------

void gateway_state::on_withdraw(const Msg<schema::Withdraw>& wish) {
  if (drafts_.contains(wish->getStream())) {
    probe_->withdrawn();
    take_draft(wish->getStream());
    return settle();
  }
  auto request = requests_.number_of(wish->getStream());
  if (!request)
    return; // it ended meanwhile
  probe_->withdrawn();
  cancelled_.begin(*request, close(*request));
  settle();
}

void gateway_state::on_cancelled(const Msg<schema::Cancelled>& said) {
  if (!cancelled_.hear(said))
    probe_->dropped_stale();
  settle();
}

/// Takes it out of every table.
open_request gateway_state::close(std::uint64_t request) {
  deadlines_.take({waits_for::answer, request});
  deadlines_.take({waits_for::news, request});
  return requests_.take(request);
}

void gateway_state::refuse(std::uint64_t stream, api_error why) {
  probe_->refused();
  tell_failure(stream, std::move(why));
}

void gateway_state::fail(std::uint64_t request, api_error why) {
  auto one = close(request);
  probe_->failed();
  cancelled_.begin(request, one);
  tell_failure(one.stream, std::move(why));
  settle();
}

void gateway_state::tell_failure(std::uint64_t stream, api_error why) {
  std::vector<stream_news> all(1);
  all[0].stream = stream;
  all[0].taken_at = desk_.now();
  all[0].end = stream_end::failed;
  all[0].why = std::move(why);
  patron_->hear(std::move(all));
}

// -- time, and the end of it --------------------------------------------------

void gateway_state::wake_at(nanoseconds due, std::uint64_t epoch) {
  desk_.tell_after<schema::Due>(handle{self_}, due - desk_.now(), rt::unprompted,
                                [&](auto timer) { timer.setEpoch(epoch); });
}

void gateway_state::on_due(const Msg<schema::Due>& timer) {
  deadlines_.on_timer(timer->getEpoch(), desk_.now());
}

void gateway_state::on_deadline(const due_key& key) {
  auto [what, which] = key;
  if (what == waits_for::answer)
    return fail(which, out_of_time());
  if (what == waits_for::news)
    return arrive(which, requests_.find(which)->second);
  if (what == waits_for::parts) {
    take_draft(which);
    refuse(which, bad_submission());
    return settle();
  }
  log_->warn("cancel_not_acknowledged request={}", which);
  cancelled_.expire(which);
  settle();
}

void gateway_state::on_drain(const Msg<schema::Drain>&) {
  draining_ = true;
  settle();
}

/// After something has ended.
void gateway_state::settle() {
  count();
  bool empty = requests_.size() == 0 && drafts_.size() == 0 && cancelled_.size() == 0;
  if (!draining_ || !empty || std::exchange(drained_, true))
    return;
  desk_.tell<schema::Drained>(
    cluster_name{desk_.me().node, 0}, rt::unprompted,
    [&](schema::Drained::Builder said) { set_name(said.initWho(), desk_.me()); });
}

void gateway_state::count() {
  probe_->holds(requests_.waiting(), requests_.running(), cancelled_.size());
}

gateway_actor start(const rt::world& in, rt::place where, std::shared_ptr<patron> whom,
                    options how, std::shared_ptr<probe> counts) {
  return rt::spawn<gateway_state>(in, where, rt::arguments{to_string(how)},
                                  std::move(whom), how, std::move(counts));
}

} // namespace perigee::gateway
