#include "actors/gateway/gateway.hpp"

#include "actors/gateway/cancellations.hpp"
#include "actors/gateway/draft_table.hpp"
#include "actors/gateway/run_account.hpp"
#include "actors/gateway/words.hpp"
#include "actors/runtime/desk.hpp"
#include "schemas/convert.hpp"
#include "schemas/limits.capnp.h"

#include <spdlog/logger.h>

#include <algorithm>
#include <map>
#include <set>

namespace perigee::gateway {
namespace {

using std::chrono::nanoseconds;

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
        [this](const due_key& key, nothing) { on_deadline(key); }),
      cancelled_(desk_, deadlines_, *probe_, how.control, 2 * how.requests_max,
                 how.cancel_limit) {}

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
  using requests = std::map<std::uint64_t, open_request>; // ordered, as all walks here

  // -- a request comes --------------------------------------------------------

  void on_submit(const Msg<schema::Submit>& part) {
    auto stream = part->getStream();
    if (!drafts_.contains(stream)) {
      if (part->getFirstToken() != 0 || by_stream_.contains(stream))
        return probe_->dropped_stale(); // the beginning was refused
      if (auto full = cannot_take())
        return refuse(stream, *full);
      drafts_.open(stream);
      keep_until(deadlines_, {waits_for::parts, stream},
                 desk_.now() + how_.submit_limit);
    }
    auto room = how_.prompt_tokens_max - held_tokens_;
    auto fits = drafts_.add(stream, part->getFirstToken(), part->getTokens(), room);
    if (fits != draft_table::added::fits) {
      drop_draft(stream);
      return refuse(stream,
                    fits == draft_table::added::gap ? bad_submission() : queue_full());
    }
    held_tokens_ += part->getTokens().size();
    if (part->getLast())
      begin(stream, part);
  }

  std::optional<api_error> cannot_take() const {
    if (draining_)
      return api_error{api_code::not_ready, "the cluster takes no more requests", "",
                       1};
    if (drafts_.size() + requests_.size() >= how_.requests_max || cancelled_.is_full())
      return queue_full();
    return std::nullopt;
  }

  static api_error queue_full() {
    return {api_code::queue_full, "as many requests are open as may be", "", 1};
  }

  static api_error bad_submission() {
    return {api_code::internal_error, "the prompt did not arrive whole", "", {}};
  }

  void drop_draft(std::uint64_t stream) {
    held_tokens_ -= take_draft(stream).size();
  }

  draft_table::tokens take_draft(std::uint64_t stream) {
    deadlines_.take({waits_for::parts, stream});
    return drafts_.take(stream);
  }

  void begin(std::uint64_t stream, const Msg<schema::Submit>& wish) {
    open_request one;
    one.stream = stream;
    one.wish = wish;
    one.tokens = take_draft(stream);
    if (one.tokens.empty() || wish->getTokensMax() == 0) {
      release_prompt(one);
      return refuse(stream, bad_submission());
    }
    one.prompt_tokens = static_cast<std::uint32_t>(one.tokens.size());
    one.began_at = one.placing_at = desk_.now();
    nanoseconds limit{how_.request_limit};
    if (auto named = wish->getRemainingNs(); named > 0 && named < to_ns(limit))
      limit = nanoseconds{static_cast<std::int64_t>(named)};
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
    keep_until(deadlines_, {waits_for::answer, request}, one.deadline + how_.grace);
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
    if (drafts_.contains(wish->getStream())) {
      probe_->withdrawn();
      return drop_draft(wish->getStream());
    }
    auto found = by_stream_.find(wish->getStream());
    if (found == by_stream_.end())
      return; // it ended meanwhile
    probe_->withdrawn();
    auto [request, one] = close(found->second);
    cancelled_.begin(request, one);
    settle();
  }

  // -- it is placed, or not ---------------------------------------------------

  void on_placed(const Msg<schema::Placed>& said) {
    if (!desk_.is_from(conductor(), said) && !desk_.is_from(rejector(), said))
      return probe_->dropped_stale();
    auto request = said->getRequest();
    auto found = requests_.find(request);
    if (found == requests_.end()) {
      if (!cancelled_.hear(said))
        probe_->dropped_stale();
      return settle();
    }
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
        all.push_back(take_run(found, run));
      else
        place_again(run.getRequest());
    }
    if (!all.empty())
      patron_->hear(std::move(all));
    settle();
  }

  stream_news take_run(requests::iterator found, schema::Tokens::Run::Reader run) {
    auto& one = found->second;
    auto news = account_for(one, run, desk_.now(), *probe_);
    if (one.answer_tokens > 0)
      release_prompt(one);
    if (run.getEnd() != schema::End::NONE)
      close(found->first);
    return news;
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

  /// It will not be placed again.
  void release_prompt(open_request& one) {
    held_tokens_ -= one.tokens.size();
    one.tokens = {};
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
    auto [_, one] = close(request);
    probe_->failed();
    cancelled_.begin(request, one);
    tell_failure(one.stream, std::move(why));
    settle();
  }

  void on_cancelled(const Msg<schema::Cancelled>& said) {
    if (!cancelled_.hear(said))
      probe_->dropped_stale();
    settle();
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
      on_lost(to_name<prefill_name>(news->getWho()), &placement::prefill);
    else if (role == schema::Role::DECODE)
      on_lost(to_name<decode_name>(news->getWho()), &placement::decode);
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
      cancelled_.lost_conductor();
  }

  template <class Name>
  void on_lost(const Name& who, Name placement::*part) {
    for (auto request : requests_where([&](const open_request& one) {
           return one.where && (*one.where).*part == who;
         }))
      on_lost_instance(request, std::is_same_v<Name, decode_name>);
    cancelled_.lost(who);
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

  /// No token of it has reached the client.
  void place_again(std::uint64_t request) {
    auto& tried = requests_.at(request);
    if (tried.attempts >= how_.attempts_max)
      return fail(request, lost());
    auto tokens = std::move(tried.tokens);
    tried.tokens.clear();
    auto [_, one] = close(request);
    cancelled_.begin(request, one);
    one.tokens = std::move(tokens);
    one.placing_at = desk_.now();
    ++one.attempts;
    probe_->placed_again();
    log_->debug("placed_again stream={} attempt={}", one.stream, one.attempts);
    place(std::move(one));
  }

  // -- limits -----------------------------------------------------------------

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
      drop_draft(which);
      return refuse(which, bad_submission());
    }
    log_->warn("cancel_not_acknowledged request={}", which);
    cancelled_.expire(which);
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
    bool empty = requests_.empty() && drafts_.size() == 0 && cancelled_.size() == 0;
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

  std::uint64_t request_; // the last that was given out
  draft_table drafts_;
  requests requests_;                                // by number
  std::map<std::uint64_t, std::uint64_t> by_stream_; // to number
  deadlines deadlines_;
  cancellations cancelled_;
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
