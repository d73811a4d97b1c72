/// \file
/// line_census: which lines are up, and what went over each transport. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace perigee::transfer {

class line_census {
public:
  struct line {
    std::string transport;
    std::string why; ///< That one: "best", "laid_down" ...
  };

  void is_up(const std::string& node, line over) {
    std::lock_guard held{mutex_};
    lines_[node] = std::move(over);
  }

  void is_down(const std::string& node) {
    std::lock_guard held{mutex_};
    lines_.erase(node);
  }

  void moved(const std::string& transport, std::uint64_t bytes) {
    std::lock_guard held{mutex_};
    bytes_[transport] += bytes;
  }

  /// To other nodes, by their names.
  std::map<std::string, line> lines() const {
    std::lock_guard held{mutex_};
    return lines_;
  }

  /// By transport.
  std::map<std::string, std::uint64_t> bytes_moved() const {
    std::lock_guard held{mutex_};
    return bytes_;
  }

private:
  mutable std::mutex mutex_;
  std::map<std::string, line> lines_;
  std::map<std::string, std::uint64_t> bytes_;
};

} // namespace perigee::transfer
