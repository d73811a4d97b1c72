#include "actors/gateway/gateway.hpp"

#include "actors/gateway/open_request.hpp"
#include "actors/gateway/words.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/pending_table.hpp"
#include "schemas/convert.hpp"
#include "schemas/limits.capnp.h"

#include <spdlog/logger.h>

#include <algorithm>
#include <map>
#include <set>

namespace perigee::gateway {
namespace {

using std::chrono::nanoseconds;

nanoseconds to_span(std::uint64_t ns) {
  return nanoseconds{static_cast<std::int64_t>(ns)};
}

std::uint64_t to_ns(nanoseconds span) {
  return span.count() > 0 ? static_cast<std::uint64_t>(span.count()) : 0;
}

class gateway_state {
public:
  using handle = gateway_actor;
  static constexpr const char* name = "gateway";

  gateway_state(handle::pointer self, const rt::world& in, std::shared_ptr<patron> whom,
                options how, std::shared_ptr<probe> counts)
    : self_(self), desk_(self, in, name), log_(in.log->clone(name)),
      patron_(std::move(whom)), how_(how), probe_(std::move(counts)),
      request_(static_cast<std::uint64_t>(desk_.tag())),
      deadlines_(
        4 * how.requests_max, [this](auto due, auto epoch) { wake_at(due, epoch); },
        [this](const due_key& key, nothing) { on_deadline(key); }) {}

  handle::behavior_type make_behavior() {
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
      desk_.on(this, &gateway_state::on_tick),
    };
  }

private:
  struct nothing {};
  enum class waits_for : std::uint8_t { parts, answer, cancelled };
  using due_key = std::pair<waits_for, std::uint64_t>;
  using requests = std::map<std::uint64_t, open_request>; // ordered, as all walks here

  // -- a request comes --------------------------------------------------------

  void on_submit(const Msg<schema::Submit>& part) {
    auto stream = part->getStream();
    auto known = drafts_.find(stream);
    if (known == drafts_.end()) {
      if (part->getFirstToken() != 0 || by_stream_.contains(stream))
        return probe_->dropped_stale(); // the beginning was refused
      if (auto full = cannot_take())
        return refuse(stream, *full);
      known = drafts_.try_emplace(stream).first;
      keep_until({waits_for::parts, stream}, desk_.now() + how_.submit_limit);
    }
    auto& tokens = known->second.tokens;
    auto more = part->getTokens();
    bool fits = held_tokens_ + more.size() <= how_.prompt_tokens_max
                && tokens.size() + more.size() <= prompt_tokens_max;
    if (!fits || part->getFirstToken() != tokens.size()) {
      drop_draft(known);
      return refuse(stream, fits ? bad_submission() : queue_full());
    }
    held_tokens_ += more.size();
    for (auto token : more)
      tokens.push_back(token);
    if (part->getLast())
      begin(known, part);
  }

  std::optional<api_error> cannot_take() const {
    if (draining_)
      return api_error{api_code::not_ready, "the cluster takes no more requests", "",
                       1};
    if (drafts_.size() + requests_.size() >= how_.requests_max
        || cancelled_.size() >= 2 * how_.requests_max)
      return queue_full();
    return std::nullopt;
  }

  static api_error queue_full() {
    return {api_code::queue_full, "as many requests are open as may be", "", 1};
  }

  static api_error bad_submission() {
    return {api_code::internal_error, "the prompt did not arrive whole", "", {}};
  }

  void drop_draft(std::map<std::uint64_t, draft>::iterator which) {
    held_tokens_ -= which->second.tokens.size();
    deadlines_.take({waits_for::parts, which->first});
    drafts_.erase(which);
  }

  void begin(std::map<std::uint64_t, draft>::iterator from,
             const Msg<schema::Submit>& wish) {
    auto stream = from->first;
    open_request one;
    one.stream = stream;
    one.wish = wish;
    one.tokens = std::move(from->second.tokens);
    from->second.tokens.clear(); // held by `one` now
    drop_draft(from);
    if (one.tokens.empty() || wish->getTokensMax() == 0) {
      held_tokens_ -= one.tokens.size();
      return refuse(stream, bad_submission());
    }
    one.prompt_tokens = static_cast<std::uint32_t>(one.tokens.size());
    one.began_at = one.placing_at = desk_.now();
    nanoseconds limit{how_.request_limit};
    if (auto named = wish->getRemainingNs(); named > 0 && named < to_ns(limit))
      limit = to_span(named);
    one.deadline = desk_.now() + limit;
    probe_->submitted(one.prompt_tokens);
    place(std::move(one));
  }

  /// As a new attempt, under a new number.
  void place(open_request one) {
    auto request = ++request_;
    one.is_sent = false;
    one.where.reset();
    by_stream_[one.stream] = request;
    keep_until({waits_for::answer, request}, one.deadline + how_.grace);
    arrive(request, requests_.emplace(request, std::move(one)).first->second);
    count();
  }

  /// Stays unsent if there is nobody: until Member says that there is.
  void arrive(std::uint64_t request, open_request& one) {
    if (conductor_is_lost_)
      return;
    one.is_sent = desk_.tell<schema::Arrive>(
      rejector(), one.why(),
      [&](schema::Arrive::Builder asked) { fill(asked.initWish(), request, one); });
  }

  void fill(schema::Wish::Builder to, std::uint64_t request, const open_request& one) {
    set_name(to.initGateway(), desk_.me());
    to.setRequest(request);
    to.setPromptTokens(one.prompt_tokens);
    to.setTokensMax(one.wish->getTokensMax());
    to.setChain(one.wish->getChain());
    to.setRemainingNs(to_ns(one.deadline - desk_.now()));
    to.setTtftLimitNs(one.wish->getTtftLimitNs());
    to.setTbtLimitNs(one.wish->getTbtLimitNs());
  }

  void on_withdraw(const Msg<schema::Withdraw>& wish) {
    if (auto found = drafts_.find(wish->getStream()); found != drafts_.end()) {
      probe_->withdrawn();
      return drop_draft(found);
    }
    auto found = by_stream_.find(wish->getStream());
    if (found == by_stream_.end())
      return; // it ended meanwhile
    probe_->withdrawn();
    cancel(close(found->second));
    settle();
  }

  // -- it is placed, or not ---------------------------------------------------

  void on_placed(const Msg<schema::Placed>& said) {
    if (!desk_.is_from(conductor(), said) && !desk_.is_from(rejector(), said))
      return probe_->dropped_stale();
    auto request = said->getRequest();
    auto found = requests_.find(request);
    if (found == requests_.end())
      return on_placed_too_late(said);
    switch (said->which()) {
      case schema::Placed::PLACED: return on_plan(found, said->getPlaced());
      case schema::Placed::REFUSED: {
        auto [_, one] = close(request);
        refuse(one.stream, to_error(said->getRefused(), false));
        return settle();
      }
      case schema::Placed::CANCELLED: return probe_->dropped_stale(); // not by us
    }
  }

  void on_plan(requests::iterator found, schema::Placed::Plan::Reader plan) {
    auto& [request, one] = *found;
    if (one.where)
      return probe_->dropped_stale();
    one.where = placement{to_name<prefill_name>(plan.getPrefill()),
                          to_name<decode_name>(plan.getDecode())};
    if (!tell_prompt(request, one))
      place_again(request);
  }

  /// False if nobody is there to take it.
  bool tell_prompt(std::uint64_t request, const open_request& one) {
    constexpr std::size_t part_max = schema::PART_TOKENS_MAX;
    for (std::size_t at = 0; at < one.tokens.size(); at += part_max) {
      auto size = std::min(part_max, one.tokens.size() - at);
      bool there = desk_.tell<schema::Prompt>(
        one.where->prefill, one.why(), [&](schema::Prompt::Builder part) {
          part.setRequest(request);
          part.setFirstToken(static_cast<std::uint32_t>(at));
          auto tokens = part.initTokens(static_cast<unsigned>(size));
          for (unsigned i = 0; i < size; ++i)
            tokens.set(i, one.tokens[at + i]);
          if (at + size < one.tokens.size())
            return;
          part.setLast(true);
          part.setSampling(one.wish->getSampling());
          part.setPromptLogprobs(one.wish->getPromptLogprobs());
        });
      if (!there)
        return false;
    }
    return true;
  }

  /// Of a request that has ended here. If it was placed all the same, whoever has it
  /// now must hear of that.
  void on_placed_too_late(const Msg<schema::Placed>& said) {
    auto request = said->getRequest();
    auto known = cancelled_.find(request);
    if (known != cancelled_.end() && known->second.where)
      return probe_->dropped_stale();
    if (said->which() != schema::Placed::PLACED) {
      if (known != cancelled_.end()) {
        known->second.conductor = false;
        end_cancelled_if_over(known);
      }
      return;
    }
    auto plan = said->getPlaced();
    cancelled_request rest{.why = said, .where = {}};
    if (known != cancelled_.end()) {
      rest = known->second;
      forget_cancelled(known);
    }
    rest.where = placement{to_name<prefill_name>(plan.getPrefill()),
                           to_name<decode_name>(plan.getDecode())};
    rest.prefill = tell_cancel(rest.where->prefill, request, rest.why);
    rest.decode = tell_cancel(rest.where->decode, request, rest.why);
    remember(request, rest);
    settle();
  }

  // -- its answer comes -------------------------------------------------------

  void on_prompt_scores(const Msg<schema::PromptScores>& said) {
    auto found = requests_.find(said->getRequest());
    if (found == requests_.end() || !found->second.where
        || !desk_.is_from(found->second.where->prefill, said))
      return probe_->dropped_stale();
    patron_->hear(prompt_scores{found->second.stream, said->getFirstToken(),
                                to_sampled(said->getScores())});
  }

  void on_tokens(const Msg<schema::Tokens>& said) {
    std::vector<stream_news> all;
    for (auto run : said->getRuns()) {
      auto found = requests_.find(run.getRequest());
      if (found == requests_.end() || !is_served_by(found->second, said))
        probe_->dropped_stale();
      else if (!may_try_again(found->second, run))
        all.push_back(take_run(found->second, run));
      else
        place_again(run.getRequest());
    }
    if (!all.empty())
      patron_->hear(std::move(all));
    settle();
  }

  bool is_served_by(const open_request& one, const Msg<schema::Tokens>& said) {
    return one.where
           && (desk_.is_from(one.where->decode, said)
               || desk_.is_from(one.where->prefill, said));
  }

  /// Lost before the client saw anything of it.
  bool may_try_again(const open_request& one, schema::Tokens::Run::Reader run) const {
    auto end = run.getEnd();
    return (end == schema::End::ACTOR_LOST || end == schema::End::TRANSFER_FAILED)
           && one.answer_tokens == 0 && run.getTokens().size() == 0
           && one.attempts < how_.attempts_max;
  }

  stream_news take_run(open_request& one, schema::Tokens::Run::Reader run) {
    stream_news news{.stream = one.stream, .taken_at = desk_.now()};
    news.tokens = to_sampled(run.getTokens());
    news.cached_tokens = run.getCachedTokens();
    bool is_first = one.answer_tokens == 0 && !news.tokens.empty();
    if (is_first || run.getEnd() != schema::End::NONE)
      news.stages = stages_of(one, run.getStages());
    count_tokens(one, news, is_first);
    if (run.getEnd() != schema::End::NONE)
      end(one, news, run);
    return news;
  }

  timings stages_of(const open_request& one, schema::Stages::Reader said) const {
    auto times = to_timings(said);
    times[stage::parse] = to_span(one.wish->getStages().getParseNs());
    times[stage::tokenize] = to_span(one.wish->getStages().getTokenizeNs());
    times[stage::placement] += one.placing_at - one.began_at; // attempts before
    return times;
  }

  void count_tokens(open_request& one, const stream_news& news, bool is_first) {
    auto more = news.tokens.size();
    if (more == 0)
      return;
    auto now = desk_.now();
    if (is_first) {
      one.first_token_at = now;
      probe_->got_first_token(now - one.began_at, one.prompt_tokens,
                              news.cached_tokens);
      release_prompt(one);
    } else {
      probe_->waited_between_tokens(
        (now - one.last_token_at) / static_cast<std::int64_t>(more), more);
    }
    one.last_token_at = now;
    one.answer_tokens += static_cast<std::uint32_t>(more);
    probe_->got_tokens(more);
  }

  /// It will not be placed again.
  void release_prompt(open_request& one) {
    held_tokens_ -= one.tokens.size();
    one.tokens = {};
  }

  void end(const open_request& one, stream_news& news,
           schema::Tokens::Run::Reader run) {
    auto end = run.getEnd();
    if (end == schema::End::STOP || end == schema::End::LENGTH) {
      bool stopped = end == schema::End::STOP;
      stopped ? probe_->stopped() : probe_->reached_length();
      news.end = stopped ? stream_end::stop : stream_end::length;
      probe_->ended(desk_.now() - one.began_at, *news.stages, one.answer_tokens);
    } else {
      news.end = stream_end::failed;
      news.why = to_error(run);
      end == schema::End::REFUSED ? probe_->refused() : probe_->failed();
    }
    close(run.getRequest());
  }

  // -- it ends otherwise ------------------------------------------------------

  using closed = std::pair<std::uint64_t, open_request>;

  /// Takes it out of every table.
  closed close(std::uint64_t request) {
    auto node = requests_.extract(request);
    deadlines_.take({waits_for::answer, request});
    by_stream_.erase(node.mapped().stream);
    release_prompt(node.mapped());
    return {request, std::move(node.mapped())};
  }

  void refuse(std::uint64_t stream, api_error why) {
    probe_->refused();
    tell_failure(stream, std::move(why));
  }

  void tell_failure(std::uint64_t stream, api_error why) {
    std::vector<stream_news> all(1);
    all[0].stream = stream;
    all[0].taken_at = desk_.now();
    all[0].end = stream_end::failed;
    all[0].why = std::move(why);
    patron_->hear(std::move(all));
  }

  void fail(std::uint64_t request, api_error why) {
    auto rest = close(request);
    auto stream = rest.second.stream;
    probe_->failed();
    cancel(rest);
    tell_failure(stream, std::move(why));
    settle();
  }

  /// Tells all who may hold something of it.
  void cancel(const closed& what) {
    const auto& [request, one] = what;
    cancelled_request rest{.why = one.why(), .where = one.where};
    if (one.where) {
      rest.prefill = tell_cancel(one.where->prefill, request, rest.why);
      rest.decode = tell_cancel(one.where->decode, request, rest.why);
      rest.conductor = tell_cancel(conductor(), request, rest.why);
    } else if (one.is_sent) { // the conductor may have it, whether or not the rejector
      rest.conductor = tell_cancel(rejector(), request, rest.why)
                       || tell_cancel(conductor(), request, rest.why);
    }
    remember(request, rest);
  }

  template <class Name>
  bool tell_cancel(const Name& whom, std::uint64_t request, const rt::cause& why) {
    return desk_.tell<schema::Cancel>(whom, why, [&](schema::Cancel::Builder wish) {
      wish.setRequest(request);
      set_name(wish.initGateway(), desk_.me());
    });
  }

  void remember(std::uint64_t request, const cancelled_request& rest) {
    if (rest.is_over())
      return;
    if (cancelled_.size() >= 2 * how_.requests_max)
      return probe_->never_acknowledged();
    cancelled_.emplace(request, rest);
    keep_until({waits_for::cancelled, request}, desk_.now() + how_.cancel_limit);
  }

  using cancelled_requests = std::map<std::uint64_t, cancelled_request>;

  void forget_cancelled(cancelled_requests::iterator which) {
    deadlines_.take({waits_for::cancelled, which->first});
    cancelled_.erase(which);
  }

  void end_cancelled_if_over(cancelled_requests::iterator which) {
    if (which->second.is_over())
      forget_cancelled(which);
    settle();
  }

  void on_cancelled(const Msg<schema::Cancelled>& said) {
    auto found = cancelled_.find(said->getRequest());
    if (found == cancelled_.end())
      return probe_->dropped_stale();
    auto& rest = found->second;
    switch (said->getBy()) {
      case schema::Role::REJECTOR:
        rest.conductor = rest.conductor && !desk_.is_from(rejector(), said);
        break;
      case schema::Role::CONDUCTOR:
        rest.conductor = rest.conductor && !desk_.is_from(conductor(), said);
        break;
      case schema::Role::PREFILL:
        rest.prefill
          = rest.prefill && rest.where && !desk_.is_from(rest.where->prefill, said);
        break;
      case schema::Role::DECODE:
        rest.decode
          = rest.decode && rest.where && !desk_.is_from(rest.where->decode, said);
        break;
      default: return probe_->dropped_stale();
    }
    end_cancelled_if_over(found);
  }

  // -- who comes and goes -----------------------------------------------------

  void on_member(const Msg<schema::Member>& news) {
    auto role = news->getRole();
    bool places = role == schema::Role::REJECTOR || role == schema::Role::CONDUCTOR;
    if (role == schema::Role::CONDUCTOR)
      conductor_is_lost_ = !news->getUp();
    if (news->getUp())
      return places ? arrive_all() : void();
    if (places)
      on_lost_placer(role);
    else if (role == schema::Role::PREFILL)
      on_lost(to_name<prefill_name>(news->getWho()), &placement::prefill,
              &cancelled_request::prefill);
    else if (role == schema::Role::DECODE)
      on_lost(to_name<decode_name>(news->getWho()), &placement::decode,
              &cancelled_request::decode);
    settle();
  }

  void arrive_all() {
    for (auto& [request, one] : requests_)
      if (!one.is_sent)
        arrive(request, one);
  }

  /// What was not placed yet went with it, or is told by nobody any more.
  void on_lost_placer(schema::Role role) {
    for (auto request : requests_where(
           [](const open_request& one) { return one.is_sent && !one.where; }))
      place_again(request);
    if (role == schema::Role::CONDUCTOR)
      release_cancelled([](cancelled_request& rest) { rest.conductor = false; });
  }

  template <class Name>
  void on_lost(const Name& who, Name placement::*part, bool cancelled_request::*held) {
    auto is_there = [&](const std::optional<placement>& where) {
      return where && (*where).*part == who;
    };
    for (auto request :
         requests_where([&](const open_request& one) { return is_there(one.where); }))
      on_lost_instance(request, std::is_same_v<Name, decode_name>);
    release_cancelled([&](cancelled_request& rest) {
      if (is_there(rest.where))
        rest.*held = false;
    });
  }

  /// Who decodes may go on without who prefilled, or says that it cannot.
  void on_lost_instance(std::uint64_t request, bool decodes) {
    if (requests_.at(request).answer_tokens == 0)
      return place_again(request);
    if (decodes)
      fail(request, lost());
  }

  static api_error lost() {
    return {api_code::actor_lost, "an actor that served it was lost", "", {}};
  }

  template <class Is>
  std::vector<std::uint64_t> requests_where(Is is) const {
    std::vector<std::uint64_t> found;
    for (const auto& [request, one] : requests_)
      if (is(one))
        found.push_back(request);
    return found;
  }

  template <class Change>
  void release_cancelled(Change change) {
    for (auto one = cancelled_.begin(); one != cancelled_.end();) {
      auto at = one++;
      change(at->second);
      if (at->second.is_over())
        forget_cancelled(at);
    }
  }

  /// No token of it has reached the client.
  void place_again(std::uint64_t request) {
    auto& tried = requests_.at(request);
    if (tried.attempts >= how_.attempts_max)
      return fail(request, lost());
    auto tokens = std::move(tried.tokens);
    tried.tokens.clear();
    auto last = close(request);
    cancel(last);
    auto& one = last.second;
    one.tokens = std::move(tokens);
    one.placing_at = desk_.now();
    ++one.attempts;
    probe_->placed_again();
    log_->debug("placed_again stream={} attempt={}", one.stream, one.attempts);
    place(std::move(one));
  }

  // -- limits -----------------------------------------------------------------

  void keep_until(const due_key& key, nanoseconds when) {
    bool kept = deadlines_.put(key, when, {});
    PERIGEE_ASSERT(kept, "there is a deadline for whatever there may be");
  }

  void wake_at(nanoseconds due, std::uint64_t epoch) {
    desk_.tell_after<schema::Due>(handle{self_}, due - desk_.now(), rt::unprompted,
                                  [&](auto timer) { timer.setEpoch(epoch); });
  }

  void on_due(const Msg<schema::Due>& timer) {
    deadlines_.on_timer(timer->getEpoch(), desk_.now());
  }

  void on_deadline(const due_key& key) {
    auto [what, which] = key;
    if (what == waits_for::answer)
      return fail(which,
                  {api_code::deadline_exceeded, "the request's time was over", "", {}});
    if (what == waits_for::parts) {
      drop_draft(drafts_.find(which));
      return refuse(which, bad_submission());
    }
    probe_->never_acknowledged();
    log_->warn("cancel_not_acknowledged request={}", which);
    cancelled_.erase(which);
    settle();
  }

  void on_drain(const Msg<schema::Drain>&) {
    draining_ = true;
    settle();
  }

  /// Nobody sets one.
  void on_tick(const Msg<schema::Tick>&) {
    probe_->dropped_stale();
  }

  /// After something has ended.
  void settle() {
    count();
    bool empty = requests_.empty() && drafts_.empty() && cancelled_.empty();
    if (!draining_ || !empty || std::exchange(drained_, true))
      return;
    desk_.tell<schema::Drained>(
      cluster_name{desk_.me().node, 0}, rt::unprompted,
      [&](schema::Drained::Builder said) { set_name(said.initWho(), desk_.me()); });
  }

  void count() {
    auto running
      = std::count_if(requests_.begin(), requests_.end(),
                      [](const auto& one) { return one.second.answer_tokens > 0; });
    auto all = static_cast<std::ptrdiff_t>(requests_.size());
    probe_->holds(static_cast<std::size_t>(all - running),
                  static_cast<std::size_t>(running), cancelled_.size());
  }

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
  options how_;
  std::shared_ptr<probe> probe_;

  std::uint64_t request_;                            // the last that was given out
  std::map<std::uint64_t, draft> drafts_;            // by stream
  requests requests_;                                // by number
  cancelled_requests cancelled_;                     // likewise
  std::map<std::uint64_t, std::uint64_t> by_stream_; // to number
  rt::pending_table<due_key, nothing> deadlines_;
  std::size_t held_tokens_ = 0;
  bool conductor_is_lost_ = false;
  bool draining_ = false;
  bool drained_ = false;
};

} // namespace

std::string to_string(const options& how) {
  auto text = [](const char* key, auto value) {
    return std::string{key} + '=' + std::to_string(value);
  };
  return text("control", static_cast<std::uint32_t>(how.control))
         + text(" requests_max", how.requests_max)
         + text(" prompt_tokens_max", how.prompt_tokens_max)
         + text(" request_limit_ms", how.request_limit.count())
         + text(" grace_ms", how.grace.count())
         + text(" submit_limit_ms", how.submit_limit.count())
         + text(" cancel_limit_ms", how.cancel_limit.count())
         + text(" attempts_max", how.attempts_max);
}

gateway_actor start(const rt::world& in, rt::place where, std::shared_ptr<patron> whom,
                    options how, std::shared_ptr<probe> counts) {
  return rt::spawn<gateway_state>(in, where, rt::arguments{to_string(how)},
                                  std::move(whom), how, std::move(counts));
}

} // namespace perigee::gateway
