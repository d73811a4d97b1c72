/// \file
/// load_pace: how long loading and computing will take, by how long they took.
#pragma once

#include "actors/runtime/name.hpp"
#include "schemas/cache.capnp.h"

#include <chrono>
#include <map>
#include <optional>

namespace perigee::prefill {

/// Means that follow what was seen last: each new value counts a quarter. Of loading,
/// one for each node and tier that KV comes from.
///
/// Pure. One owner.
class load_pace {
public:
  using span = std::chrono::nanoseconds;

  void loaded(node_index from, schema::Tier in, std::uint32_t tokens, span took);
  void computed(std::uint32_t tokens, span took);

  /// How long to wait until `compute_tokens` can be computed while the last of
  /// `load_tokens` arrive, so that both are done at about the same time. 0: begin now,
  /// also if nothing is known of either.
  span head_start(node_index from, schema::Tier in, std::uint32_t load_tokens,
                  std::uint32_t compute_tokens) const;

private:
  /// In 1/1024 ns a token: whole numbers, so that every build draws the same.
  using pace = std::int64_t;

  static void follow(std::optional<pace>& mean, std::uint32_t tokens, span took);

  std::map<std::pair<node_index, schema::Tier>, std::optional<pace>> loads_;
  std::optional<pace> compute_;
};

} // namespace perigee::prefill
