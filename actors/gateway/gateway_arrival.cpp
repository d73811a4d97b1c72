#include "actors/gateway/gateway_state.hpp"
#include "schemas/convert.hpp"
#include "schemas/limits.capnp.h"

#include <algorithm>

namespace perigee::gateway {
namespace {

using std::chrono::nanoseconds;

std::uint64_t to_ns(nanoseconds span) {
  return span.count() > 0 ? static_cast<std::uint64_t>(span.count()) : 0;
}

} // namespace

// -- a request comes ----------------------------------------------------------

void gateway_state::on_submit(const Msg<schema::Submit>& part) {
  auto stream = part->getStream();
  if (!drafts_.contains(stream)) {
    if (part->getFirstToken() != 0 || requests_.number_of(stream))
      return probe_->dropped_stale(); // the beginning was refused
    if (auto full = cannot_take())
      return refuse(stream, *full);
    drafts_.open(stream);
    keep_until(deadlines_, {waits_for::parts, stream}, desk_.now() + how_.submit_limit);
  }
  auto held = drafts_.tokens_held() + requests_.prompt_tokens();
  auto room = how_.prompt_tokens_max - held;
  auto fits = drafts_.add(stream, part->getFirstToken(), part->getTokens(), room);
  if (fits != draft_table::added::fits) {
    take_draft(stream);
    refuse(stream, fits == draft_table::added::gap ? bad_submission() : queue_full());
    return settle();
  }
  if (part->getLast())
    begin(stream, part);
}

std::optional<api_error> gateway_state::cannot_take() const {
  if (draining_)
    return draining(1);
  if (drafts_.size() + requests_.size() >= how_.requests_max || cancelled_.is_full())
    return queue_full();
  return std::nullopt;
}

draft_table::tokens gateway_state::take_draft(std::uint64_t stream) {
  deadlines_.take({waits_for::parts, stream});
  return drafts_.take(stream);
}

void gateway_state::begin(std::uint64_t stream, const Msg<schema::Submit>& wish) {
  open_request one;
  one.stream = stream;
  one.wish = wish;
  one.tokens = take_draft(stream);
  if (one.tokens.empty() || wish->getTokensMax() == 0) {
    refuse(stream, bad_submission());
    return settle();
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

/// As a new attempt, under a new number. If not at once, when there is news.
void gateway_state::place(open_request one, bool at_once) {
  one.is_sent = false;
  one.where.reset();
  auto& [request, placed] = requests_.open(std::move(one));
  keep_until(deadlines_, {waits_for::answer, request}, placed.deadline + how_.grace);
  if (at_once)
    arrive(request, placed);
  else
    keep_until(deadlines_, {waits_for::news, request}, desk_.now() + how_.news_limit);
  count();
}

/// Stays unsent if there is nobody: until Member says that there is.
void gateway_state::arrive(std::uint64_t request, open_request& one) {
  if (conductor_is_lost_)
    return;
  one.is_sent = desk_.tell<schema::Arrive>(
    rejector(), one.why(),
    [&](schema::Arrive::Builder asked) { fill(asked.initWish(), request, one); });
}

void gateway_state::fill(schema::Wish::Builder to, std::uint64_t request,
                         const open_request& one) {
  set_name(to.initGateway(), desk_.me());
  to.setRequest(request);
  to.setPromptTokens(one.prompt_tokens);
  to.setTokensMax(one.wish->getTokensMax());
  to.setChain(one.wish->getChain());
  to.setRemainingNs(to_ns(one.deadline - desk_.now()));
  to.setTtftLimitNs(one.wish->getTtftLimitNs());
  to.setTbtLimitNs(one.wish->getTbtLimitNs());
}

// -- it is placed, or not -----------------------------------------------------

void gateway_state::on_placed(const Msg<schema::Placed>& said) {
  if (!desk_.is_from(conductor(), said) && !desk_.is_from(rejector(), said))
    return probe_->dropped_stale();
  auto request = said->getRequest();
  auto found = requests_.find(request);
  if (!found) {
    if (!cancelled_.hear(said))
      probe_->dropped_stale();
    return settle();
  }
  switch (said->which()) {
    case schema::Placed::PLACED: return on_plan(*found, said->getPlaced());
    case schema::Placed::REFUSED: {
      refuse(close(request).stream, to_error(said->getRefused(), false));
      return settle();
    }
    case schema::Placed::CANCELLED: return probe_->dropped_stale(); // not by us
  }
}

void gateway_state::on_plan(numbered& found, schema::Placed::Plan::Reader plan) {
  auto& [request, one] = found;
  if (one.where)
    return probe_->dropped_stale();
  one.where = to_placement(plan);
  if (!tell_prompt(request, one))
    place_again(request);
}

/// False if nobody is there to take it.
bool gateway_state::tell_prompt(std::uint64_t request, const open_request& one) {
  constexpr std::size_t part_max = schema::PART_TOKENS_MAX;
  for (std::size_t at = 0; at < one.tokens.size(); at += part_max) {
    auto size = std::min(part_max, one.tokens.size() - at);
    auto fill = [&](schema::Prompt::Builder part) {
      part.setRequest(request);
      part.setFirstToken(static_cast<std::uint32_t>(at));
      part.setTokens({one.tokens.data() + at, size});
      if (at + size < one.tokens.size())
        return;
      part.setLast(true);
      part.setSampling(one.wish->getSampling());
      part.setPromptLogprobs(one.wish->getPromptLogprobs());
    };
    bool there = one.where->is_coupled
                   ? desk_.tell<schema::Prompt>(one.where->coupled(), one.why(), fill)
                   : desk_.tell<schema::Prompt>(one.where->prefill, one.why(), fill);
    if (!there)
      return false;
  }
  return true;
}

} // namespace perigee::gateway
