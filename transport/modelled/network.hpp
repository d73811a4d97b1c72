/// \file
/// network: hosts around a core, and what lies between two of them.
#pragma once

#include "transport/modelled/fair_share.hpp"
#include "transport/modelled/link_faults.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <utility>

namespace perigee::transport {

/// What a modelled network is made of. Bandwidths are in bytes a second; 0 is no limit. One
/// that is to be cut, or slowed down, has a limit, which may be infinite.
struct network_plan {
  using host = std::uint32_t;

  /// How a host is connected, either way; by its position.
  struct port {
    double bytes_per_s = 0;
    std::chrono::nanoseconds latency{0};
  };

  /// What else holds up those who go from one host to another, in that direction.
  struct cable {
    double bytes_per_s = 0;
    std::chrono::nanoseconds latency{0};
  };

  /// From `begins` on, and before `ends`, a link has that share of its bandwidth: a
  /// host's port, either way, or, with `to`, the cable to that one. Each has a limit.
  struct fault {
    host from = 0;
    std::optional<host> to{};
    std::chrono::nanoseconds begins{0};
    std::chrono::nanoseconds ends = std::chrono::nanoseconds::max();
    double share = 0;
  };

  std::vector<port> ports;
  std::map<std::pair<host, host>, cable> cables{}; ///< From, to.
  double core_bytes_per_s = 0;
  std::chrono::nanoseconds latency{0}; ///< Of the core.
  std::vector<fault> faults{};

  /// Whether anything takes time.
  bool has_effect() const;
};

/// The links of a plan, numbered; and the way between two hosts. Pure.
class network {
public:
  using host = network_plan::host;

  explicit network(network_plan plan);

  /// Of each link, in bytes a second, as flow_table wants it.
  const std::vector<double>& capacities() const {
    return capacities_;
  }

  std::size_t hosts() const {
    return plan_.ports.size();
  }

  struct way {
    flow_path links;
    std::chrono::nanoseconds latency;
  };

  /// The plan's, by the links that they take from.
  std::vector<link_fault> faults() const;

  /// Between two hosts that are there. The longer latency of both ports counts, and
  /// those of cable and core.
  way between(host from, host to) const;

private:
  void add(flow_path& to, double bytes_per_s);

  network_plan plan_;
  std::vector<double> capacities_;
  flow_path core_; // of one link, or of none
  std::vector<flow_path> out_, in_;
  std::map<std::pair<host, host>, flow_path> cables_;
};

} // namespace perigee::transport
