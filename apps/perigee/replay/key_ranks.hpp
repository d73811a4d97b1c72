/// \file
/// key_ranks: which blocks of a trace are asked for most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace perigee::app {

/// Counts how often each block was asked for so far. Exact up to `keys_max` blocks;
/// beyond, those that were asked for least are forgotten, half of all or more at a time.
/// Pure.
class key_ranks {
public:
  explicit key_ranks(std::size_t keys_max);

  void add(std::span<const std::uint64_t> ids);

  /// The block on rank `rank`, which counts from 1: of equals, who came first. Nothing
  /// if there are fewer. At most `rank_max`. Cost: all blocks once, after each add().
  std::optional<std::uint64_t> at(std::size_t rank);

  static constexpr std::size_t rank_max = 10'000;

private:
  struct entry {
    std::uint64_t id;
    std::uint32_t times;
  };

  void forget_some();
  void rank();

  std::size_t keys_max_;
  std::vector<entry> all_; // in the order in which they came
  std::unordered_map<std::uint64_t, std::uint32_t> places_;
  std::vector<std::uint32_t> ranked_; // places; empty: not known now
};

} // namespace perigee::app
