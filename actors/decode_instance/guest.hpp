/// \file
/// guest: one request in a decode instance.
#pragma once

#include "actors/decode_instance/sequence.hpp"
#include "actors/pool_writer.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace perigee::decode {

using moment = std::chrono::nanoseconds;

enum class stage : std::uint8_t {
  expected,  ///< The conductor said that it will come.
  lining,    ///< For the blocks of its prompt.
  receiving, ///< The prefill group writes them.
  ready,     ///< In the arena: it may take steps.
  parking,   ///< On its way to the pool.
  parked,    ///< There.
  returning, ///< On its way back.
  ending,    ///< Its end is told; its blocks may still be in use.
};

struct guest {
  std::uint64_t request = 0;
  stage now = stage::expected;
  gateway_name gateway;
  prefill_name prefill;
  rt::actor_tag writer{}; ///< The tag of that group, once it asked for room.
  rt::cause why;
  std::uint64_t age = 0; ///< Counts those for whom room was asked.

  std::uint64_t owner = 0; ///< To the ledger, and to the engine host.
  std::vector<std::uint32_t> blocks;
  std::uint32_t prompt_tokens = 0;
  bool was_given = false; ///< Room: so there will be a Landed.
  bool landed = false;    ///< Or the writer is no more, and its movements are over.

  std::optional<Msg<schema::Handoff>> handoff; ///< Once accepted.
  std::optional<sequence> answer;
  bool has_sequence = false; ///< The engine host keeps something of it.
  bool in_run = false;

  /// Of those in the running batch: their KV when it became what it is.
  std::optional<std::uint32_t> batch_kv_tokens;

  std::uint32_t blocks_told = 0; ///< Of its table, so many are known to the host.

  bool is_storing = false;         ///< Into the pool: to park it, or as an offer.
  bool has_offer = false;          ///< Its own full blocks shall go to the pool.
  std::optional<kept_blocks> kept; ///< Its KV, in the pool.
  std::uint64_t fetch_ticket = 0;
  std::uint32_t returns_failed = 0;
  moment return_at{}; ///< Not before.

  bool has_cancel = false; ///< A Cancelled is owed.
  moment accepted_at{};
  moment landed_at{};
  moment began_at{};

  /// As load counts it: with `steps` that the running batch has taken.
  std::uint32_t kv_tokens_after(std::uint32_t steps) const {
    return batch_kv_tokens ? *batch_kv_tokens + steps : answer->kv_tokens();
  }

  bool is_accepted() const {
    return handoff.has_value();
  }

  /// Whether somebody may be reading or writing its blocks.
  bool is_in_use() const {
    return in_run || (was_given && !landed) || is_storing || fetch_ticket != 0;
  }

  /// What has become of its time by `at`.
  void write_stages(schema::Stages::Builder to, moment at) const {
    auto ns = [](moment span) { return static_cast<std::uint64_t>(span.count()); };
    auto landed_by = landed_at == moment{} ? at : landed_at;
    auto began_by = began_at == moment{} ? at : began_at;
    to.setTransferNs(ns(landed_by - accepted_at));
    to.setDecodeQueueNs(ns(began_by - landed_by));
    to.setDecodeNs(ns(at - began_by));
  }
};

} // namespace perigee::decode
