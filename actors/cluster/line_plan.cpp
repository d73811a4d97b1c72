#include "actors/cluster/line_plan.hpp"

#include <algorithm>
#include <cmath>

namespace perigee::cluster {
namespace {

/// The narrower of two, of which 0 is none.
std::uint64_t narrower(std::uint64_t one, std::uint64_t other) {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

std::uint64_t bytes_per_s(const link_settings& one) {
  auto rate = std::llround(one.gib_per_s * double(1 << 30));
  return one.gib_per_s > 0 ? static_cast<std::uint64_t>(std::max(rate, 1LL)) : 0;
}

} // namespace

transfer::line_plan line_plan_of(const topology& all, node_index self) {
  transfer::line_plan plan;
  const auto& own = all.nodes[static_cast<std::size_t>(self)].name;
  for (std::uint32_t i = 0; i < all.nodes.size(); ++i) {
    if (node_index{i} == self)
      continue;
    auto& terms = plan[node_index{i}];
    terms.node = all.nodes[i].name;
    for (const auto& one : all.links) {
      bool is_out = one.from == own && one.to == terms.node;
      bool is_in = one.from == terms.node && one.to == own;
      bool is_of_either = one.node == own || one.node == terms.node;
      if (!is_out && !is_in && !is_of_either)
        continue;
      if (!one.transport.empty())
        terms.transport = one.transport;
      if (is_out)
        terms.most.written = narrower(terms.most.written, bytes_per_s(one));
      if (is_in)
        terms.most.read = narrower(terms.most.read, bytes_per_s(one));
    }
  }
  return plan;
}

} // namespace perigee::cluster
