/// \file
/// open_request: what the gateway's actor keeps of one request.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/scribe.hpp"
#include "schemas/convert.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace perigee::gateway {

/// Where a request was placed.
struct placement {
  prefill_name prefill;
  decode_name decode;
  bool is_coupled = false; ///< Both are one coupled instance's.

  coupled_name coupled() const {
    return {prefill.node, prefill.index};
  }
};

inline placement to_placement(schema::Placed::Plan::Reader from) {
  return {to_name<prefill_name>(from.getPrefill()),
          to_name<decode_name>(from.getDecode()), from.getCoupled()};
}

/// One attempt to serve a request, told to the cluster.
struct open_request {
  std::uint64_t stream = 0;
  Msg<schema::Submit> wish;          ///< Its last part.
  std::vector<std::uint32_t> tokens; ///< Until the first one of the answer is here.
  std::uint32_t prompt_tokens = 0;

  std::chrono::nanoseconds began_at{};   ///< The first attempt.
  std::chrono::nanoseconds placing_at{}; ///< This one.
  std::chrono::nanoseconds deadline{};   ///< Of the instances; ours is later.
  unsigned attempts = 1;
  bool is_sent = false; ///< To the rejector.

  std::optional<placement> where;
  std::uint32_t answer_tokens = 0;
  std::chrono::nanoseconds last_token_at{};

  rt::cause why() const {
    return wish;
  }
};

} // namespace perigee::gateway
