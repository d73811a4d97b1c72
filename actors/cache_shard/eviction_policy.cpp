#include "actors/cache_shard/eviction_policy.hpp"

namespace perigee::shard {
namespace {

class lru final : public eviction_policy {
public:
  eviction_rank rank(const block_use& use) const override {
    return {use.last, ~std::uint64_t{use.depth}};
  }
};

} // namespace

std::unique_ptr<eviction_policy> make_eviction_policy(std::string_view name) {
  if (name == "lru")
    return std::make_unique<lru>();
  return nullptr;
}

std::span<const std::string_view> eviction_policy_names() {
  static constexpr std::array<std::string_view, 1> names{"lru"};
  return names;
}

} // namespace perigee::shard
