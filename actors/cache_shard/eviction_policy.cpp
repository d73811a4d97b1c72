#include "actors/cache_shard/eviction_policy.hpp"

namespace perigee::shard {
namespace {

std::uint64_t deepest_first(const block_use& use) {
  return ~std::uint64_t{use.depth};
}

class lru final : public eviction_policy {
public:
  eviction_rank rank(const block_use& use) const override {
    return {use.last, deepest_first(use), 0};
  }
};

class lfu final : public eviction_policy {
public:
  eviction_rank rank(const block_use& use) const override {
    return {use.uses, use.last, deepest_first(use)};
  }
};

class length_aware final : public eviction_policy {
public:
  eviction_rank rank(const block_use& use) const override {
    return {use.uses, deepest_first(use), use.last};
  }
};

} // namespace

std::unique_ptr<eviction_policy> make_eviction_policy(std::string_view name) {
  if (name == "lru")
    return std::make_unique<lru>();
  if (name == "lfu")
    return std::make_unique<lfu>();
  if (name == "length_aware")
    return std::make_unique<length_aware>();
  return nullptr;
}

std::span<const std::string_view> eviction_policy_names() {
  static constexpr std::array<std::string_view, 3> names{"lru", "lfu", "length_aware"};
  return names;
}

} // namespace perigee::shard
