/// \file
/// thread_pool: shares loops out among a few threads, many thousand times a second.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace perigee::engine::cpu {

struct pool_settings {
  std::size_t threads = 1; ///< With the one that calls; 1 to threads_max.

  /// Ties each helper to a processor of its own, if that many were idle just now:
  /// asking takes 50 ms. Helpers that get none float.
  bool pin = false;
};

/// Fork and join. A call's items are cut into chunks and dealt out evenly, always the
/// same way; a thread that is through with its own takes from others. So one that the
/// kernel doesn't run holds up the chunk it is in at most, not its share. Nobody spins
/// longer than some 50 microseconds before it sleeps; with fewer processors than
/// threads, not at all.
///
/// One thread calls at a time. Results must not depend on who runs a chunk.
class thread_pool {
public:
  static constexpr std::size_t threads_max = 256;

  explicit thread_pool(pool_settings how);
  ~thread_pool();

  std::size_t threads() const;

  /// Calls `body(begin, end, thread)` for ranges that make up [0, count), each at least
  /// `grain` long but for the last; `thread` is below threads(). Returns when all are
  /// done; what they wrote is seen then. `body` must not throw. With one thread, or no
  /// more than `grain` items, runs in the caller, in order.
  template <class Body>
  void run(std::size_t count, std::size_t grain, Body&& body) {
    using held = std::remove_reference_t<Body>;
    run_ranges(
      count, grain,
      [](void* it, std::size_t begin, std::size_t end, std::size_t thread) {
        (*static_cast<held*>(it))(begin, end, thread);
      },
      const_cast<void*>(static_cast<const void*>(&body)));
  }

private:
  using range_call
    = void (*)(void* body, std::size_t begin, std::size_t end, std::size_t thread);
  struct shared;

  void run_ranges(std::size_t count, std::size_t grain, range_call call, void* body);

  std::unique_ptr<shared> shared_;
};

} // namespace perigee::engine::cpu
