/// \file
/// http_bench: the threads that read, render and tokenize, so that sockets never wait.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace perigee::gateway {

/// Runs jobs in the order in which they come, on threads of its own. Bounded.
class http_bench {
public:
  using job = std::function<void()>;

  http_bench(std::size_t threads, std::size_t waiting_max);

  /// Ends when the jobs at hand are done; those that wait are dropped.
  ~http_bench();
  http_bench(const http_bench&) = delete;
  http_bench& operator=(const http_bench&) = delete;

  /// False if as many wait as may. From any thread.
  [[nodiscard]] bool put(job one);

private:
  void work();

  std::size_t waiting_max_;
  std::mutex lock_;
  std::condition_variable news_;
  std::deque<job> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

} // namespace perigee::gateway
