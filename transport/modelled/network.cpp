#include "transport/modelled/network.hpp"

#include <algorithm>

namespace perigee::transport {

bool network_plan::has_effect() const {
  auto takes_time
    = [](const auto& one) { return one.bytes_per_s > 0 || one.latency.count() > 0; };
  return core_bytes_per_s > 0 || latency.count() > 0
         || std::ranges::any_of(ports, takes_time)
         || std::ranges::any_of(
           cables, [&](const auto& entry) { return takes_time(entry.second); });
}

network::network(network_plan plan)
  : plan_(std::move(plan)), out_(plan_.ports.size()), in_(plan_.ports.size()) {
  add(core_, plan_.core_bytes_per_s);
  for (std::size_t i = 0; i < plan_.ports.size(); ++i) {
    add(out_[i], plan_.ports[i].bytes_per_s);
    add(in_[i], plan_.ports[i].bytes_per_s);
  }
  for (const auto& [ends, cable] : plan_.cables)
    add(cables_[ends], cable.bytes_per_s);
}

void network::add(flow_path& to, double bytes_per_s) {
  if (bytes_per_s <= 0)
    return;
  to.push_back(static_cast<link_index>(capacities_.size()));
  capacities_.push_back(bytes_per_s);
}

std::vector<link_fault> network::faults() const {
  std::vector<link_fault> all;
  for (const auto& one : plan_.faults) {
    link_fault made{one.begins, one.ends, {}, one.share};
    auto add_links = [&](const flow_path& some) {
      made.links.insert(made.links.end(), some.begin(), some.end());
    };
    if (one.to) {
      add_links(cables_.at({one.from, *one.to}));
    } else {
      add_links(out_.at(one.from));
      add_links(in_.at(one.from));
    }
    all.push_back(std::move(made));
  }
  return all;
}

network::way network::between(host from, host to) const {
  way found{{},
            plan_.latency
              + std::max(plan_.ports.at(from).latency, plan_.ports.at(to).latency)};
  auto go_over = [&](const flow_path& links) {
    found.links.insert(found.links.end(), links.begin(), links.end());
  };
  go_over(out_[from]);
  go_over(core_);
  go_over(in_[to]);
  if (auto at = cables_.find({from, to}); at != cables_.end()) {
    go_over(at->second);
    found.latency += plan_.cables.at({from, to}).latency;
  }
  return found;
}

} // namespace perigee::transport
