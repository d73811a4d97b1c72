/// \file
/// paths: which transports carry what.
#pragma once

#include "transport/peer.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace perigee::transfer {

/// One way to other processes.
struct way {
  std::string name; ///< "tcp", at most 16 bytes.
  std::unique_ptr<transport::peer_transport> by;
  bool is_within_host = false; ///< It reaches processes of this host alone.
};

/// The transports of one transfer actor.
struct paths {
  /// Between segments of this process.
  std::unique_ptr<transport::transport> within;

  /// To others, best first. Empty: there are none.
  std::vector<way> ways{};

  /// What this host is called, where it matters that two processes are on the same.
  std::string host{};
};

} // namespace perigee::transfer
