/// \file
/// dial_list: which nodes are to be connected to, for the threads that do it.
#pragma once

#include "schemas/vocabulary.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

namespace perigee::cluster {

/// The cluster's actor wishes, a thread for each node waits for that. Any thread may
/// use it.
class dial_list {
public:
  /// Has `whom` connected to, once. `is_again`: the last connection was no good, so not
  /// at once.
  void wish(node_index whom, bool is_again) {
    std::lock_guard guard{mutex_};
    wishes_[whom] = is_again;
    news_.notify_all();
  }

  /// Waits for a wish, and takes it: is_again. Nothing once close() was called.
  std::optional<bool> take(node_index whom) {
    std::unique_lock held{mutex_};
    news_.wait(held, [&] { return closed_ || wishes_.contains(whom); });
    if (closed_)
      return std::nullopt;
    auto is_again = wishes_.at(whom);
    wishes_.erase(whom);
    return is_again;
  }

  bool is_wished(node_index whom) const {
    std::lock_guard guard{mutex_};
    return wishes_.contains(whom);
  }

  /// Returns after `span`; sooner, with false, once close() was called.
  bool sleep(std::chrono::nanoseconds span) {
    std::unique_lock held{mutex_};
    return !news_.wait_for(held, span, [&] { return closed_; });
  }

  void close() {
    std::lock_guard guard{mutex_};
    closed_ = true;
    news_.notify_all();
  }

private:
  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::map<node_index, bool> wishes_;
  bool closed_ = false;
};

} // namespace perigee::cluster
