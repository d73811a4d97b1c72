/// \file
/// modelled_links: what a modelled node's movements go over.
#pragma once

#include "actors/interfaces.hpp"

#include <chrono>
#include <optional>

namespace perigee::transfer {

/// What a modelled node's movements take, in bytes a second; 0 takes no time. Without
/// any, a transport takes the time that it takes.
struct modelled_links {
  /// Within the node: into what computes, and out of it. Shared fairly, each way for
  /// itself.
  double load_bytes_per_s = 0;
  double store_bytes_per_s = 0;
  std::chrono::nanoseconds latency{0};

  /// Who says when bytes from or to other nodes arrive; nobody: at once.
  std::optional<fabric_name> fabric{};
  double port_bytes_per_s = 0; ///< Of this node, at the fabric.

  bool is_within() const {
    return load_bytes_per_s > 0 || store_bytes_per_s > 0 || latency.count() > 0;
  }
};

} // namespace perigee::transfer
