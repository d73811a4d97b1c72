/// \file
/// processes: the nodes of a topology, each in a process of its own on this machine.
#pragma once

#include "actors/cluster/respawn_plan.hpp"
#include "schemas/result.hpp"

#include <spdlog/logger.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace perigee::app {

/// How a process is started: the arguments after the program's own name.
struct node_process {
  std::string node;
  std::vector<std::string> arguments;
};

/// Starts this very program once for each node, and again what ends by itself, after a
/// wait that grows while it dies young. Their lines go to stderr, each with the node's
/// name before it. They end with this process, whatever ends that.
class processes {
public:
  processes(std::vector<node_process> all, cluster::respawn_limits limits,
            std::shared_ptr<spdlog::logger> log);

  /// As end(), and waits.
  ~processes();
  processes(const processes&) = delete;
  processes& operator=(const processes&) = delete;

  /// Has all of them end in good order. From any thread.
  void end();

  /// Returns when all have ended. Fails with a sentence if one of them has died too
  /// often, or would not even begin: then all are ended.
  result<void, std::string> wait();

private:
  struct child {
    node_process how;
    cluster::respawn_plan plan;
    std::uint64_t starts = 0;
    int pid = 0;             // 0: it is not there
    bool ended_well = false; // the last time, though nobody here had said so
    std::thread keeper{};
  };

  void keep(child& one);
  bool run_once(child& one);
  int start(child& one, int& lines);
  void relay(const std::string& node, int lines);
  bool rest(std::chrono::nanoseconds span);
  void fail(const std::string& why);
  std::string table() const;

  const std::shared_ptr<spdlog::logger> log_;
  std::vector<std::unique_ptr<child>> children_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::string fault_;
};

} // namespace perigee::app
