/// \file
/// eviction_policy: which cached block goes first.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace perigee::shard {

/// What a policy may know of a block.
struct block_use {
  std::uint64_t last = 0;  ///< When it was stored or leased; counts up with each such.
  std::uint64_t uses = 0;  ///< How often it was leased.
  std::uint32_t depth = 0; ///< Blocks before it in its chain.
};

/// Of two blocks, the lower goes first.
using eviction_rank = std::array<std::uint64_t, 3>;

/// A function of a block's use, and of nothing else. Pure.
class eviction_policy {
public:
  virtual ~eviction_policy() = default;
  virtual eviction_rank rank(const block_use& use) const = 0;
};

/// By name; null if no policy has it.
///
/// `lru`: what was not used for longest goes first; of equals, the deepest.
/// `lfu`: what was used least often since it came; of equals, as `lru`.
/// `length_aware`: the same, but of equals the deepest; of those, as `lru`.
std::unique_ptr<eviction_policy> make_eviction_policy(std::string_view name);

/// For settings and their error texts.
std::span<const std::string_view> eviction_policy_names();

} // namespace perigee::shard
