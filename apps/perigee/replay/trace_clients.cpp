#include "apps/perigee/replay/trace_clients.hpp"

#include "actors/gateway/words.hpp"
#include "actors/runtime/name.hpp"
#include "schemas/convert.hpp"
#include "schemas/limits.capnp.h"

#include <algorithm>

namespace perigee::app {
namespace {

using std::chrono::nanoseconds;

block_chain keys_of(const workload::request& one, std::size_t block_tokens) {
  block_chain keys;
  auto whole = whole_blocks_of(one, block_tokens);
  keys.reserve(whole.size());
  for (auto id : whole)
    keys.push_back(key_of(id));
  return keys;
}

bool is_refusal(gateway::api_code why) {
  return gateway::info_of(why).status == 429;
}

} // namespace

// A trace's ids name a block with all that comes before it, as our keys do.
block_key key_of(std::uint64_t id) {
  return {rt::mix(id), rt::mix(~id)};
}

std::span<const std::uint64_t> whole_blocks_of(const workload::request& one,
                                               std::size_t block_tokens) {
  auto whole
    = std::min<std::size_t>(one.input_tokens / block_tokens, one.block_ids.size());
  return std::span{one.block_ids}.first(whole);
}

void trace_clients::opened(const gateway_actor& gateway) {
  bool is_successor = static_cast<bool>(gateway_);
  gateway_ = gateway;
  if (is_successor)
    begin_again();
}

void trace_clients::begin_again() {
  std::vector<std::uint64_t> lost;
  for (const auto& [stream, one] : open_)
    if (outcomes_[one.at].output_tokens > 0)
      lost.push_back(stream);
    else
      submit(*door_, one.wish, stream);
  for (auto stream : lost)
    end(stream, outcome::ending::failed, gateway::api_code::actor_lost, door_->now());
}

void trace_clients::send(rt::doorway& door, workload::request one, nanoseconds now) {
  switch (turns_.take(one, now)) {
    case session_turns::fate::now: begin(door, one, now); return;
    case session_turns::fate::later: return;
    case session_turns::fate::never: leave_out(one, now); return;
  }
}

void trace_clients::send_next(rt::doorway& door, nanoseconds now) {
  begin(door, turns_.pop(), now);
}

void trace_clients::leave_out(const workload::request& one, nanoseconds now) {
  outcome none;
  none.arrived = none.ended = now;
  none.input_tokens = one.input_tokens;
  none.how = outcome::ending::not_sent;
  outcomes_.push_back(none);
}

void trace_clients::begin(rt::doorway& door, const workload::request& one,
                          nanoseconds now) {
  std::uint64_t stream = outcomes_.size();
  outcome begun;
  begun.arrived = now;
  begun.input_tokens = one.input_tokens;
  outcomes_.push_back(begun);
  auto gaps_max = std::max(one.output_tokens, 1u) - 1;
  open_.emplace(stream,
                open_stream{stream, longest_tenth{gaps_max}, {}, one.session, one});
  door_ = &door;
  if (gateway_)
    submit(door, one, stream);
  else
    end(stream, outcome::ending::failed, gateway::api_code::not_ready, now);
}

void trace_clients::submit(rt::doorway& door, const workload::request& one,
                           std::uint64_t stream) {
  constexpr std::uint32_t part_max = schema::PART_TOKENS_MAX;
  for (std::uint32_t at = 0; at < one.input_tokens; at += part_max)
    door.tell<schema::Submit>(
      gateway_, rt::unprompted, [&](schema::Submit::Builder part) {
        auto size = std::min(part_max, one.input_tokens - at);
        part.setStream(stream);
        part.setFirstToken(at);
        auto tokens = part.initTokens(size);
        auto token = static_cast<std::uint32_t>((stream + at) % vocabulary_);
        for (unsigned i = 0; i < size;
             ++i, token = token + 1 == vocabulary_ ? 0 : token + 1)
          tokens.set(i, token);
        if (at + size < one.input_tokens)
          return;
        part.setLast(true);
        engine::sampling_params how;
        how.temperature = 0;
        gateway::set_sampling(part.initSampling(), how);
        part.setTokensMax(one.output_tokens);
        auto chain = part.initChain();
        set_chain(chain, keys_of(one, block_tokens_));
        chain.setBlockTokens(static_cast<std::uint16_t>(block_tokens_));
      });
}

std::vector<outcome> trace_clients::take_outcomes(nanoseconds began) {
  for (const auto& one : turns_.give_up())
    leave_out(one, began);
  auto all = std::move(outcomes_);
  for (auto& one : all) {
    one.arrived -= began;
    one.first_token -= began;
    one.ended -= began;
  }
  return all;
}

void trace_clients::hear(std::vector<gateway::stream_news> all) {
  for (const auto& news : all) {
    auto found = open_.find(news.stream);
    if (found == open_.end())
      continue;
    take_tokens(found->second, news);
    using gateway::stream_end;
    if (news.end == stream_end::failed) {
      auto why = news.why ? news.why->code : gateway::api_code::internal_error;
      end(news.stream,
          is_refusal(why) ? outcome::ending::refused : outcome::ending::failed, why,
          news.taken_at);
    } else if (news.end != stream_end::not_yet) {
      end(news.stream, outcome::ending::served, {}, news.taken_at);
    }
  }
}

void trace_clients::take_tokens(open_stream& of, const gateway::stream_news& news) {
  auto& of_it = outcomes_[of.at];
  for (std::size_t i = 0; i < news.tokens.size(); ++i) {
    auto drawn = news.drawn_at(i);
    if (of_it.output_tokens++ == 0) {
      of_it.first_token = drawn;
      of.wish = {};
      of_it.cached_tokens = news.cached_tokens;
    } else {
      of.gaps.add(drawn - of.last, 1);
      gaps_.add(drawn - of.last, 1);
    }
    of.last = drawn;
  }
}

void trace_clients::end(std::uint64_t stream, outcome::ending how,
                        std::optional<gateway::api_code> why, nanoseconds at) {
  auto found = open_.find(stream);
  auto& of_it = outcomes_[found->second.at];
  of_it.how = how;
  of_it.why = why;
  of_it.ended = at;
  of_it.tbt = found->second.gaps.mean();
  auto session = found->second.session;
  open_.erase(found);
  if (!session)
    return;
  for (const auto& one : turns_.ended(*session, how == outcome::ending::served, at))
    leave_out(one, at);
}

} // namespace perigee::app
