#include "transport/modelled/fair_share.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace perigee::transport {
namespace {

struct link_load {
  double left = 0; // capacity that nobody has yet
  std::uint32_t flows = 0;

  double share() const {
    return left / flows;
  }
};

/// The link whose flows get least, of those that still have some; the first of equals.
std::optional<link_index> narrowest(std::span<const link_load> links) {
  std::optional<link_index> found;
  for (link_index at = 0; at < links.size(); ++at)
    if (links[at].flows > 0 && (!found || links[at].share() < links[*found].share()))
      found = at;
  return found;
}

std::vector<link_load> loads_of(std::span<const double> capacities,
                                std::span<const flow_path> flows) {
  std::vector<link_load> links;
  links.reserve(capacities.size());
  for (double capacity : capacities)
    links.push_back({capacity, 0});
  for (const auto& path : flows)
    for (auto link : path) {
      PERIGEE_ASSERT(link < links.size(), "a flow over a link that is not there");
      ++links[link].flows;
    }
  return links;
}

} // namespace

std::vector<double> fair_share(std::span<const double> capacities,
                               std::span<const flow_path> flows) {
  constexpr double no_limit = std::numeric_limits<double>::infinity();
  auto links = loads_of(capacities, flows);
  std::vector<double> rates(flows.size(), no_limit);
  while (auto tight = narrowest(links)) {
    double share = std::max(links[*tight].share(), 0.0);
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
      const auto& path = flows[flow];
      if (rates[flow] != no_limit || std::ranges::count(path, *tight) == 0)
        continue;
      rates[flow] = share;
      for (auto link : path) {
        links[link].left -= share;
        --links[link].flows;
      }
    }
  }
  return rates;
}

} // namespace perigee::transport
