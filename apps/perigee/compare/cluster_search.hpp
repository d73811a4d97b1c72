/// \file
/// cluster_search: the smallest cluster that is good enough.
#pragma once

#include "schemas/result.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace perigee::app {

/// How many nodes of each kind.
struct cluster_size {
  std::uint32_t prefill = 1;
  std::uint32_t decode = 1;

  std::uint32_t nodes() const {
    return prefill + decode;
  }
  auto operator<=>(const cluster_size&) const = default;
};

/// Tries clusters, believing that more nodes of either kind are never worse: doubles
/// both until that is enough; halves the way to the fewest of each kind beside plenty of
/// the other; and from there on tries every cluster of one more node, and one more.
/// Pure.
class cluster_search {
public:
  /// Whether each of these is good enough; or a sentence that says why that is not
  /// known. Called with several where it does not matter which is tried first.
  using trial = std::function<result<std::vector<bool>, std::string>(
    std::span<const cluster_size>)>;

  /// At most `each_max` nodes of each kind.
  cluster_search(std::uint32_t each_max, trial attempt)
    : each_max_(each_max), attempt_(std::move(attempt)) {}

  /// All clusters of the fewest nodes that are good enough: none if not even the
  /// largest is.
  result<std::vector<cluster_size>, std::string> run();

private:
  /// Tries those of `all` that were not. False if one could not be: see `fault_`.
  bool attempt(std::vector<cluster_size> all);
  bool is_enough(cluster_size one) const {
    return known_.at(one);
  }

  std::optional<std::uint32_t> find_enough();
  std::optional<std::uint32_t> fewest(std::uint32_t enough, std::uint32_t plenty,
                                      cluster_size (*with)(std::uint32_t,
                                                           std::uint32_t));
  std::optional<std::vector<cluster_size>> try_all_of(std::uint32_t nodes,
                                                      cluster_size least);

  std::uint32_t each_max_;
  trial attempt_;
  std::map<cluster_size, bool> known_;
  std::string fault_;
};

} // namespace perigee::app
