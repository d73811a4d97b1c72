/// \file
/// guest: one request in a decode instance.
#pragma once

#include "actors/decode_instance/sequence.hpp"
#include "actors/interfaces.hpp"
#include "actors/runtime/scribe.hpp"

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
  rt::cause why;
  std::uint64_t age = 0; ///< Counts those whose KV was asked room for.

  std::uint64_t owner = 0; ///< To the ledger, and to the engine host.
  std::vector<std::uint32_t> blocks;
  std::uint32_t prompt_tokens = 0;
  bool was_given = false; ///< Room: so there will be a Landed.
  bool landed = false;

  std::optional<Msg<schema::Handoff>> handoff; ///< Once accepted.
  std::optional<sequence> answer;
  bool has_sequence = false; ///< The engine host keeps something of it.
  bool in_run = false;
  std::uint32_t blocks_told = 0; ///< Of its table, so many are known to the host.

  bool has_cancel = false; ///< A Cancelled is owed.
  moment accepted_at{};
  moment landed_at{};
  moment began_at{};

  bool is_accepted() const {
    return handoff.has_value();
  }

  /// Whether somebody else may be writing into its blocks.
  bool is_being_written() const {
    return was_given && !landed;
  }

  /// What has become of its time by `now`.
  void write_stages(schema::Stages::Builder to, moment now_) const {
    auto ns = [](moment span) { return static_cast<std::uint64_t>(span.count()); };
    auto landed_by = landed_at == moment{} ? now_ : landed_at;
    auto began_by = began_at == moment{} ? now_ : began_at;
    to.setTransferNs(ns(landed_by - accepted_at));
    to.setDecodeQueueNs(ns(began_by - landed_by));
    to.setDecodeNs(ns(now_ - began_by));
  }
};

} // namespace perigee::decode
