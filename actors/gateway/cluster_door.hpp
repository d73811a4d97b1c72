/// \file
/// cluster_door: the HTTP side's way into the cluster.
#pragma once

#include "actors/gateway/api_request.hpp"
#include "actors/gateway/http_call.hpp"
#include "actors/gateway/timings.hpp"

#include <chrono>
#include <cstdint>
#include <span>

namespace perigee::gateway {

/// One answer that is wanted.
struct submission {
  std::uint64_t stream = 0; ///< Its name; unique in its time.
  trace_id trace;

  std::span<const token_id> tokens;
  block_key root;
  std::span<const block_key> chain;
  std::uint32_t block_tokens = 0;

  const engine::sampling_params* sampling = nullptr;
  int prompt_logprobs = -1;
  std::uint32_t tokens_max = 0; ///< At least 1.

  std::chrono::nanoseconds ttft_limit{}; ///< 0: the cluster's.
  std::chrono::nanoseconds tbt_limit{};
  std::chrono::nanoseconds parse{};
  std::chrono::nanoseconds tokenize{};
};

/// Used by the server's thread, but for now().
class cluster_door {
public:
  virtual ~cluster_door() = default;

  /// False if no gateway is there.
  virtual bool submit(const submission& wish) = 0;

  /// Nothing more of it is wanted.
  virtual void withdraw(std::uint64_t stream) = 0;

  /// The cluster's clock. From any thread.
  virtual std::chrono::nanoseconds now() const = 0;
};

} // namespace perigee::gateway
