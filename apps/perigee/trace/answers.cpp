#include "apps/perigee/trace/answers.hpp"

#include "actors/gateway/words.hpp"

#include <capnp/dynamic.h>
#include <capnp/serialize.h>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace perigee::app::trace {
namespace {

using gateway::stage;
using gateway::timings;
using std::chrono::nanoseconds;

/// As the schema spells it.
template <class Enum>
std::string spelled(Enum value) {
  auto all = capnp::Schema::from<Enum>().getEnumerants();
  auto at = static_cast<std::uint16_t>(value);
  return at < all.size() ? all[at].getProto().getName().cStr() : "unknown";
}

std::string refused(schema::Refusal::Reader why) {
  return "refused: " + spelled(why.getWhy());
}

/// Of the `at`-th of `all`, which grows.
template <class T>
T& of(std::vector<T>& all, std::int32_t at) {
  return all[static_cast<std::size_t>(at)];
}

} // namespace

// -- while it is read ---------------------------------------------------------

void answers::note(std::uint32_t place, std::uint64_t type, words_view words) {
  capnp::FlatArrayMessageReader flat{kj::arrayPtr(words.data(), words.size()),
                                     {~std::uint64_t{0}, 4 * nesting_max}};
  using namespace schema;
  switch (type) {
    case capnp::typeId<Submit>(): return note_submit(place, flat.getRoot<Submit>());
    case capnp::typeId<Withdraw>():
      return note_withdraw(place, flat.getRoot<Withdraw>());
    case capnp::typeId<Arrive>():
      arrivals_.push_back(place);
      return note_wish(place, flat.getRoot<Arrive>().getWish());
    case capnp::typeId<Place>():
      return note_wish(place, flat.getRoot<Place>().getWish());
    case capnp::typeId<Placed>(): note_placed(place, flat.getRoot<Placed>()); break;
    case capnp::typeId<Tokens>(): return note_tokens(place, flat.getRoot<Tokens>());
    case capnp::typeId<Forward>(): return note_forward(place, flat.getRoot<Forward>());
    case capnp::typeId<Push>(): return note_push(place, flat.getRoot<Push>());
    default: break;
  }
  note_named(place, words);
}

/// Of every other message that has a field of that name, it is an attempt's.
void answers::note_named(std::uint32_t place, words_view words) {
  const auto* type = all_.messages[place].type;
  KJ_IF_MAYBE (field, type->schema.findFieldByName("request")) {
    capnp::FlatArrayMessageReader flat{kj::arrayPtr(words.data(), words.size()),
                                       {~std::uint64_t{0}, 4 * nesting_max}};
    auto said = flat.getRoot<capnp::DynamicStruct>(type->schema);
    named_.emplace_back(place, said.get(*field).as<std::uint64_t>());
  }
}

void answers::note_wish(std::uint32_t place, schema::Wish::Reader said) {
  named_.emplace_back(place, said.getRequest());
}

void answers::note_submit(std::uint32_t place, schema::Submit::Reader said) {
  auto& sent = all_.messages[place];
  auto [found, is_new] = by_stream_.try_emplace({sent.by, said.getStream()}, -1);
  if (is_new) {
    request one;
    one.number = said.getStream();
    one.has_beginning = true;
    one.process = all_.actors[sent.by].process();
    one.trace_high = said.getHeader().getTraceHigh();
    one.trace_low = said.getHeader().getTraceLow();
    one.arrived_at = sent.sent_at;
    found->second = add_request(std::move(one));
  }
  sent.request = found->second;
  auto& whole = of(all_.requests, found->second);
  whole.input_tokens += said.getTokens().size();
  if (!said.getLast())
    return;
  whole.tokens_max = said.getTokensMax();
  of(before_, found->second) = gateway::to_timings(said.getStages());
}

void answers::note_withdraw(std::uint32_t place, schema::Withdraw::Reader said) {
  auto& sent = all_.messages[place];
  auto found = by_stream_.find({sent.by, said.getStream()});
  if (found == by_stream_.end())
    return;
  sent.request = found->second;
  withdrawals_.emplace_back(place, found->second);
}

void answers::note_placed(std::uint32_t place, schema::Placed::Reader said) {
  if (said.isRefused())
    pieces_.push_back({.attempt = said.getRequest(),
                       .in = place,
                       .remark = add_remark({.end = refused(said.getRefused())})});
}

void answers::note_tokens(std::uint32_t place, schema::Tokens::Reader said) {
  for (auto run : said.getRuns()) {
    named_.emplace_back(place, run.getRequest());
    piece one{
      .attempt = run.getRequest(), .in = place, .tokens = run.getTokens().size()};
    remark more{.cached = run.getCachedTokens()};
    if (run.getEnd() == schema::End::REFUSED)
      more.end = refused(run.getRefusal());
    else if (run.getEnd() != schema::End::NONE)
      more.end = spelled(run.getEnd());
    if (run.hasStages())
      more.times = gateway::to_timings(run.getStages());
    if (more.times || !more.end.empty())
      one.remark = add_remark(std::move(more));
    pieces_.push_back(one);
  }
}

void answers::note_forward(std::uint32_t place, schema::Forward::Reader said) {
  for (auto work : said.getWork())
    if (work.getOpenGate() != 0)
      forward_by_gate_.emplace(work.getOpenGate(), place);
}

void answers::note_push(std::uint32_t place, schema::Push::Reader said) {
  if (auto gate = said.getWhat().getAwaitGate(); gate != 0)
    pushes_.emplace_back(place, gate);
}

// -- in the end ---------------------------------------------------------------

void answers::conclude() {
  join_attempts();
  spread();
  share_runs();
  share_gates();
  tell_outcomes();
  order();
}

std::uint32_t answers::add_remark(remark one) {
  remarks_.push_back(std::move(one));
  return static_cast<std::uint32_t>(remarks_.size() - 1);
}

std::int32_t answers::add_request(request one) {
  all_.requests.push_back(std::move(one));
  before_.emplace_back();
  first_try_.push_back(0);
  last_try_.push_back(0);
  return static_cast<std::int32_t>(all_.requests.size() - 1);
}

/// An Arrive is sent because of a Submit.
void answers::join_attempts() {
  std::map<std::uint32_t, std::uint64_t> attempt_of{named_.begin(), named_.end()};
  for (auto place : arrivals_) {
    const auto& sent = all_.messages[place];
    auto cause = all_.find(sent.parent);
    auto whose = all_.messages[cause].request;
    if (whose < 0)
      continue;
    auto attempt = attempt_of.at(place);
    if (!by_attempt_.emplace(attempt, whose).second)
      continue;
    auto& one = of(all_.requests, whose);
    if (one.attempts.empty())
      of(first_try_, whose) = sent.sent_at;
    of(last_try_, whose) = sent.sent_at;
    one.attempts.push_back(attempt);
  }
}

/// One whose beginning is not in the journals is known by its attempt.
std::int32_t answers::request_of(std::uint64_t attempt, std::uint32_t place) {
  auto [found, is_new] = by_attempt_.try_emplace(attempt, -1);
  if (is_new) {
    const auto& sent = all_.messages[place];
    request one;
    one.number = attempt;
    one.process = all_.actors[sent.by].process();
    one.arrived_at = sent.sent_at;
    one.attempts = {attempt};
    found->second = add_request(std::move(one));
  }
  return found->second;
}

/// From messages that name a request to those that are sent because of them.
void answers::spread() {
  for (std::size_t i = 0; i < named_.size(); ++i) {
    auto [place, attempt] = named_[i];
    auto whose = request_of(attempt, place);
    bool alone = (i == 0 || named_[i - 1].first != place)
                 && (i + 1 == named_.size() || named_[i + 1].first != place);
    if (alone)
      all_.messages[place].request = whose;
    else
      all_.shared.emplace_back(whose, place);
  }
  // A cause was read of first, but for what came from other processes.
  for (int twice = 0; twice < 2; ++twice)
    for (auto& one : all_.messages)
      if (one.request < 0 && one.parent != 0)
        one.request = all_.messages[all_.find(one.parent)].request;
}

/// Whoever hears the result of a run tells of each request in it.
void answers::share_runs() {
  auto sent_with = [&](const piece& one) {
    const auto& handled = all_.handlings[all_.messages[one.in].sent_in];
    const auto& cause = all_.messages[handled.of];
    bool is_run = cause.type && cause.type->name == "Forwarded" && cause.request < 0;
    return is_run ? handled.of : 0;
  };
  for (const auto& one : pieces_)
    if (auto result = sent_with(one)) {
      auto whose = request_of(one.attempt, one.in);
      all_.shared.emplace_back(whose, result);
      if (auto asked = all_.find(all_.messages[result].parent))
        all_.shared.emplace_back(whose, asked);
    }
}

/// What is pushed as a run opens its gate was computed by that run.
void answers::share_gates() {
  std::map<std::uint64_t, std::uint32_t> result_of;
  for (std::uint32_t i = 1; i < all_.messages.size(); ++i)
    if (const auto& one = all_.messages[i]; one.type && one.type->name == "Forwarded")
      result_of.emplace(one.parent, i);
  for (auto [push, gate] : pushes_) {
    auto found = forward_by_gate_.find(gate);
    auto whose = all_.messages[push].request;
    if (found == forward_by_gate_.end() || whose < 0)
      continue;
    const auto& run = all_.messages[found->second];
    if (run.request >= 0)
      continue; // it was alone in it
    all_.shared.emplace_back(whose, found->second);
    if (auto result = result_of.find(run.span); result != result_of.end())
      all_.shared.emplace_back(whose, result->second);
  }
}

void answers::tell_outcomes() {
  for (const auto& one : pieces_)
    tell_outcome(request_of(one.attempt, one.in), one);
  for (auto [place, whose] : withdrawals_)
    if (auto& one = of(all_.requests, whose); !one.ended_at)
      one.outcome = "withdrawn";
}

void answers::tell_outcome(std::int32_t whose, const piece& said) {
  auto& one = of(all_.requests, whose);
  const auto& told = all_.messages[said.in];
  const auto& more = remarks_[said.remark];
  if (told.taken_in == 0 || one.attempts.back() != said.attempt)
    return; // the gateway never heard of it, or has tried again since
  auto close = [&](timings times) {
    auto before = of(before_, whose);
    times[stage::parse] = before[stage::parse];
    times[stage::tokenize] = before[stage::tokenize];
    times[stage::placement]
      += nanoseconds{of(last_try_, whose) - of(first_try_, whose)};
    times.close(nanoseconds{told.taken_at - one.arrived_at} + before.total());
    return times;
  };
  if (one.output_tokens == 0 && said.tokens > 0) {
    one.cached_tokens = more.cached;
    if (more.times && one.has_beginning)
      one.to_first_token = close(*more.times);
  }
  one.output_tokens += said.tokens;
  if (more.end.empty())
    return;
  one.outcome = more.end;
  one.ended_at = told.taken_at;
  if (one.has_beginning)
    one.to_end = close(more.times.value_or(timings{}));
}

/// By arrival; and whoever refers to a request follows.
void answers::order() {
  std::vector<std::int32_t> by_arrival(all_.requests.size());
  std::iota(by_arrival.begin(), by_arrival.end(), 0);
  auto key = [&](std::int32_t at) {
    const auto& one = of(all_.requests, at);
    return std::pair{one.arrived_at, one.number};
  };
  std::sort(by_arrival.begin(), by_arrival.end(),
            [&](auto a, auto b) { return key(a) < key(b); });
  std::vector<std::int32_t> now_at(by_arrival.size());
  std::vector<request> sorted;
  for (auto before : by_arrival) {
    of(now_at, before) = static_cast<std::int32_t>(sorted.size());
    sorted.push_back(std::move(of(all_.requests, before)));
  }
  all_.requests = std::move(sorted);
  for (auto& one : all_.messages)
    if (one.request >= 0)
      one.request = of(now_at, one.request);
  for (auto& [whose, place] : all_.shared)
    whose = of(now_at, whose);
  std::sort(all_.shared.begin(), all_.shared.end());
  auto end = std::unique(all_.shared.begin(), all_.shared.end());
  all_.shared.erase(end, all_.shared.end());
}

} // namespace perigee::app::trace
