/// \file
/// job: one request in a prefill group.
#pragma once

#include "actors/prefill_group/delivery.hpp"
#include "actors/prefill_group/prompt_join.hpp"
#include "transport/gate_board.hpp"

#include <chrono>
#include <memory>

namespace perigee::prefill {

using moment = std::chrono::nanoseconds;

enum class stage : std::uint8_t {
  joining,     ///< Its Prefill or a part of its Prompt is not here yet.
  waiting,     ///< For blocks.
  fetching,    ///< What of it is in the pool.
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

  void write(schema::Stages::Builder to, moment now) const {
    auto ns = [](moment span) { return static_cast<std::uint64_t>(span.count()); };
    auto began = compute_began == moment{} ? now : compute_began;
    auto ended = compute_ended == moment{} ? now : compute_ended;
    auto fetch = fetch_ended - fetch_began;
    to.setQueueNs(ns(began - arrived - fetch));
    to.setFetchNs(ns(fetch));
    to.setPrefillNs(ns(ended - began));
    to.setHandoffNs(ns(now - ended));
  }
};

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
  std::shared_ptr<transport::owned_gate> gate; ///< Of those, if there is one.

  delivery to_decode;
  bool asked_room = false;
  bool landed = false;     ///< The decode instance was told that nothing more comes.
  bool has_cancel = false; ///< A Cancelled is owed.
  bool was_reported = false;

  std::uint32_t prompt_tokens() const {
    return (*plan)->getPromptTokens();
  }

  /// Blocks that are complete when `tokens` tokens are computed.
  std::uint32_t blocks_of(std::uint32_t tokens, std::uint32_t block_tokens) const {
    return tokens == prompt_tokens() ? static_cast<std::uint32_t>(blocks.size())
                                     : tokens / block_tokens;
  }

  bool has_one_token_answer() const {
    return (*plan)->getTokensMax() <= 1;
  }
};

} // namespace perigee::prefill
