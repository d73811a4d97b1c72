/// \file
/// Who holds one block, and where: the value of the prefix index.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace perigee::conductor {

/// Where a shard keeps a block: its fastest copy, as last heard.
enum class tier : std::uint8_t { dram, ssd, vram };

/// Counts the times that shards were heard of; see prefix_index.
enum class tenure_id : std::uint32_t {};

/// One holder and its tier, packed: a hot block may have thousands.
class holder {
public:
  holder(tenure_id who, tier where)
    : bits_(static_cast<std::uint32_t>(who) << 2 | static_cast<std::uint32_t>(where)) {}

  tenure_id who() const {
    return tenure_id{bits_ >> 2};
  }
  tier where() const {
    return tier{static_cast<std::uint8_t>(bits_ & 3)};
  }

private:
  std::uint32_t bits_;
};

/// A holder's id leaves two bits for its tier.
inline constexpr std::uint32_t tenures_max = std::uint32_t{1} << 20;
static_assert(tenures_max <= (std::uint64_t{1} << 30), "an id must fit beside a tier");

/// The holders of one block, ordered by tenure. Most blocks have one: it needs no
/// memory of its own.
class holder_set {
public:
  std::span<const holder> all() const {
    if (many_)
      return *many_;
    return {&one_, static_cast<std::size_t>(has_one_)};
  }

  /// Adds `one`, in place of what was known of the same tenure. True if nothing was.
  bool add(const holder& one);

  /// True if `who` was a holder.
  bool remove(tenure_id who) {
    return remove_if([who](tenure_id other) { return other == who; }) > 0;
  }

  /// Takes out every holder for which `gone(tenure)`. Returns how many.
  template <class Gone>
  std::size_t remove_if(Gone gone) {
    auto is_gone = [&](const holder& one) { return gone(one.who()); };
    if (many_)
      return std::erase_if(*many_, is_gone);
    if (!has_one_ || !is_gone(one_))
      return 0;
    has_one_ = false;
    return 1;
  }

  bool empty() const {
    return all().empty();
  }

private:
  holder one_{tenure_id{}, tier{}};
  bool has_one_ = false;
  std::unique_ptr<std::vector<holder>> many_; // instead of `one_`, once there were two
};

} // namespace perigee::conductor
