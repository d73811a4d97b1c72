#include "apps/perigee/replay/trace_clients.hpp"

#include "actors/gateway/words.hpp"
#include "actors/runtime/name.hpp"
#include "schemas/convert.hpp"
#include "schemas/limits.capnp.h"

#include <algorithm>

namespace perigee::app {
namespace {

using std::chrono::nanoseconds;

/// A trace's ids name a block with all that comes before it, as our keys do.
block_chain keys_of(const workload::request& one, std::uint32_t block_tokens) {
  block_chain keys;
  auto full
    = std::min<std::size_t>(one.input_tokens / block_tokens, one.block_ids.size());
  keys.reserve(full);
  for (std::size_t i = 0; i < full; ++i)
    keys.push_back({rt::mix(one.block_ids[i]), rt::mix(~one.block_ids[i])});
  return keys;
}

bool is_refusal(gateway::api_code why) {
  return gateway::info_of(why).status == 429;
}

} // namespace

void trace_clients::opened(const gateway_actor& gateway) {
  gateway_ = gateway;
}

void trace_clients::send(rt::doorway& door, const workload::request& one,
                         nanoseconds now) {
  std::uint64_t stream = outcomes_.size();
  outcome begun;
  begun.arrived = now;
  begun.input_tokens = one.input_tokens;
  outcomes_.push_back(begun);
  open_.emplace(stream, open_stream{stream, {}});
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
        for (unsigned i = 0; i < size; ++i)
          tokens.set(i, static_cast<std::uint32_t>((stream + at + i) % vocabulary_));
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

std::vector<outcome> trace_clients::outcomes(nanoseconds began) const {
  auto all = outcomes_;
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
      of_it.cached_tokens = news.cached_tokens;
    } else {
      of_it.gaps.push_back(drawn - of.last);
    }
    of.last = drawn;
  }
}

void trace_clients::end(std::uint64_t stream, outcome::ending how,
                        std::optional<gateway::api_code> why, nanoseconds at) {
  auto& of_it = outcomes_[open_.at(stream).at];
  of_it.how = how;
  of_it.why = why;
  of_it.ended = at;
  open_.erase(stream);
}

} // namespace perigee::app
