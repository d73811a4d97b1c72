/// \file
/// node_bell: how `perigee drain` reaches a node's process, on its own host.
#pragma once

#include "schemas/result.hpp"
#include "transport/streams/file.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace perigee::app {

/// Calls `rung` once, on a thread of its own, when somebody rings: a process of the same
/// user, or root's. Keeps connected who has rung, so that the process's end is heard.
class node_bell {
public:
  /// Fails with a sentence: another process of this host has that cluster's node.
  static result<std::unique_ptr<node_bell>, std::string>
  hang(const std::string& cluster, const std::string& node, std::function<void()> rung);

  ~node_bell();

  /// `rung` is not called any more once this has returned. Who rings is heard all the
  /// same.
  void mute();

  node_bell(const node_bell&) = delete;
  node_bell& operator=(const node_bell&) = delete;

private:
  node_bell(transport::streams::file listening, transport::streams::file stopping,
            std::function<void()> rung);
  void listen();
  void admit();
  bool hear(int guest);

  const transport::streams::file listening_, stopping_;
  const std::function<void()> rung_;
  std::mutex mutex_; // guards what follows
  bool has_rung_ = false;
  std::vector<transport::streams::file> guests_;
  std::thread thread_;
};

/// Rings, and waits for the process to end. Fails with a sentence: nobody is there, it
/// refuses, or it goes on for longer than `limit`.
result<void, std::string> ring(const std::string& cluster, const std::string& node,
                               std::chrono::milliseconds limit);

} // namespace perigee::app
