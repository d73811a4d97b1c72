#include "apps/perigee/compare/cluster_search.hpp"

#include <algorithm>

namespace perigee::app {

result<std::vector<cluster_size>, std::string> cluster_search::run() {
  auto enough = find_enough();
  if (!enough)
    return fault_.empty() ? result<std::vector<cluster_size>,
                                   std::string>{std::vector<cluster_size>{}}
                          : failure(fault_);
  // So many suffice together, so that of neither kind it takes more than twice that.
  auto plenty = std::min(2 * *enough, each_max_);
  auto prefill = fewest(*enough, plenty, [](auto few, auto many) {
    return cluster_size{few, many};
  });
  auto decode = fewest(*enough, plenty, [](auto few, auto many) {
    return cluster_size{many, few};
  });
  if (!prefill || !decode)
    return failure(fault_);
  // Of each there must be so many at least; together that may be too few.
  cluster_size least{*prefill, *decode};
  for (auto nodes = least.nodes();; ++nodes) {
    auto found = try_all_of(nodes, least);
    if (!found)
      return failure(fault_);
    if (!found->empty())
      return *found;
  }
}

bool cluster_search::attempt(std::vector<cluster_size> all) {
  std::erase_if(all, [this](cluster_size one) { return known_.contains(one); });
  if (all.empty())
    return true;
  auto came = attempt_(all);
  if (!came) {
    fault_ = came.error();
    return false;
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    known_[all[i]] = (*came)[i];
  return true;
}

/// So many of both kinds.
std::optional<std::uint32_t> cluster_search::find_enough() {
  for (std::uint32_t many = 1;; many = std::min(2 * many, each_max_)) {
    if (!attempt({{many, many}}))
      return std::nullopt;
    if (is_enough({many, many}))
      return many;
    if (many == each_max_)
      return std::nullopt;
  }
}

std::optional<std::uint32_t>
cluster_search::fewest(std::uint32_t enough, std::uint32_t plenty,
                       cluster_size (*with)(std::uint32_t, std::uint32_t)) {
  std::uint32_t low = 1, high = enough;
  while (low < high) {
    auto middle = low + (high - low) / 2;
    auto one = with(middle, plenty);
    if (!attempt({one}))
      return std::nullopt;
    (is_enough(one) ? high : low) = is_enough(one) ? middle : middle + 1;
  }
  return low;
}

/// Of those, who is good enough. Ends: so many of both kinds are.
std::optional<std::vector<cluster_size>>
cluster_search::try_all_of(std::uint32_t nodes, cluster_size least) {
  std::vector<cluster_size> all;
  for (auto prefill = least.prefill; prefill + least.decode <= nodes; ++prefill)
    if (prefill <= each_max_ && nodes - prefill <= each_max_)
      all.push_back({prefill, nodes - prefill});
  if (!attempt(all))
    return std::nullopt;
  std::erase_if(all, [this](cluster_size one) { return !is_enough(one); });
  return all;
}

} // namespace perigee::app
