/// \file
/// job: one request in a prefill group.
#pragma once

#include "actors/prefill_group/delivery.hpp"
#include "actors/prefill_group/prompt_join.hpp"
#include "schemas/convert.hpp"
#include "transport/gate_board.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace perigee::prefill {

using moment = std::chrono::nanoseconds;

enum class stage : std::uint8_t {
  joining,     ///< Its Prefill or a part of its Prompt is not here yet.
  waiting,     ///< For blocks.
  fetching,    ///< What of it is in the pool, and nothing of it is computed yet.
  computing,   ///< Or waiting for its turn to be.
  handing_off, ///< Its Handoff is not answered.
  handed_off,  ///< The decode instance has it; its KV may still be on its way.
  ending,      ///< Its end is told; its blocks may still be in use.
};

/// How long a request was at what. Pure.
struct stage_times {
  moment arrived{};
  moment fetch_began{};
  moment fetch_ended{};
  moment compute_began{};
  moment compute_ended{};

  /// Of a request that is here at `now`.
  void write(schema::Stages::Builder to, moment now) const {
    auto ns = [](moment span) { return static_cast<std::uint64_t>(span.count()); };
    auto or_now = [=](moment at) { return at == moment{} ? now : at; };
    auto seen = std::min(or_now(fetch_ended), or_now(compute_began)); // not hidden
    auto fetch = fetch_began == moment{} ? moment{} : seen - fetch_began;
    to.setQueueNs(ns(or_now(compute_began) - arrived - fetch));
    to.setFetchNs(ns(fetch));
    to.setPrefillNs(ns(or_now(compute_ended) - or_now(compute_began)));
    to.setHandoffNs(ns(now - or_now(compute_ended)));
  }
};

/// What a shard has lent.
struct lease {
  std::uint64_t id = 0; ///< 0: nothing.
  shard_name by;
  moment asked_at{};
  moment ends_at{};
  schema::Tier in{};
};

using gate_ptr = std::shared_ptr<transport::owned_gate>;

struct job {
  std::uint64_t request = 0;
  stage now = stage::joining;
  std::optional<Msg<schema::Prefill>> plan;
  prompt_join prompt;
  stage_times times;
  moment deadline{};

  std::uint64_t owner = 0;   ///< To the ledger, and to the engine host.
  bool has_sequence = false; ///< The engine host keeps something of it.
  bool in_forward = false;
  std::vector<std::uint32_t> blocks; ///< One for every `block_tokens` of the prompt.
  std::uint32_t computed = 0;        ///< Tokens whose KV is here.
  std::uint32_t flying = 0;          ///< Tokens after those that are being computed.
  gate_ptr gate;                     ///< Of those, if there is one.

  std::uint64_t pin_ticket = 0; ///< Not answered. 0: none.
  std::uint64_t fetch_ticket = 0;
  gate_ptr arrival; ///< Which the fetch opens, where a Forward may wait for it.
  moment load_began{};
  std::uint32_t coming = 0; ///< Tokens whose KV is being fetched.
  bool is_spoilt = false;   ///< It did not come, and the Forward builds on it.
  lease lent;
  std::uint32_t cached = 0; ///< Tokens whose KV came from the pool.

  std::uint32_t stored = 0; ///< Blocks that the pool has, or was offered.
  std::size_t stores = 0;   ///< Under way.

  delivery to_decode;
  bool asked_room = false;
  bool landed = false;     ///< The decode instance was told that nothing more comes.
  bool has_cancel = false; ///< A Cancelled is owed.
  bool was_reported = false;

  std::uint32_t prompt_tokens() const {
    return (*plan)->getPromptTokens();
  }
  gateway_name gateway() const {
    return to_name<gateway_name>((*plan)->getGateway());
  }
  decode_name decode() const {
    return to_name<decode_name>((*plan)->getDecode());
  }
  shard_name source() const {
    return to_name<shard_name>((*plan)->getSource());
  }

  /// Blocks that are complete when `tokens` tokens are computed.
  std::uint32_t blocks_of(std::uint32_t tokens, std::uint32_t block_tokens) const {
    return tokens == prompt_tokens() ? static_cast<std::uint32_t>(blocks.size())
                                     : tokens / block_tokens;
  }

  bool has_one_token_answer() const {
    return (*plan)->getTokensMax() <= 1;
  }
  bool is_scored() const {
    return prompt.last()->getPromptLogprobs() >= 0;
  }

  /// Whether somebody may be reading or writing its blocks.
  bool is_in_use() const {
    return in_forward || fetch_ticket != 0 || stores > 0 || !to_decode.moves.empty();
  }
};

} // namespace perigee::prefill
