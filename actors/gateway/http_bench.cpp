#include "actors/gateway/http_bench.hpp"

#include <utility>

namespace perigee::gateway {

http_bench::http_bench(std::size_t threads, std::size_t waiting_max)
  : waiting_max_(waiting_max) {
  for (std::size_t i = 0; i < threads; ++i)
    threads_.emplace_back([this] { work(); });
}

http_bench::~http_bench() {
  {
    std::lock_guard guard{lock_};
    ending_ = true;
  }
  news_.notify_all();
  for (auto& one : threads_)
    one.join();
}

bool http_bench::put(job one) {
  {
    std::lock_guard guard{lock_};
    if (ending_ || waiting_.size() >= waiting_max_)
      return false;
    waiting_.push_back(std::move(one));
  }
  news_.notify_one();
  return true;
}

void http_bench::work() {
  std::unique_lock guard{lock_};
  while (true) {
    news_.wait(guard, [this] { return ending_ || !waiting_.empty(); });
    if (ending_)
      return;
    auto one = std::move(waiting_.front());
    waiting_.pop_front();
    guard.unlock();
    one();
    one = {}; // what it holds ends outside of the lock
    guard.lock();
  }
}

} // namespace perigee::gateway
