/// \file
/// gate: how far a device or a transport has come, layer by layer, inside a node.
#pragma once

#include "schemas/result.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace perigee::transport {

enum class gate_fault : std::uint8_t {
  starved = 1, ///< What was waited for will not come.
  timed_out,   ///< It has not come in time.
};

/// Counts finished layers. One side opens it: an engine (layer L is computed) or a
/// transport (layer L has arrived). The other side goes past level L once L is open.
/// What was written before open_to() is seen by whoever finds it open.
///
/// Any thread may use it. With threads, wait() sleeps; in virtual time nobody waits,
/// and watchers are called by whoever opens.
class gate {
public:
  /// Called after every change, without a lock, on the thread that made the change. May
  /// be called once more after unwatch() by a thread that is about to: let it own what
  /// it uses.
  using watcher = std::function<void()>;

  struct reading {
    std::uint32_t level = 0; ///< Layers [0, level) are open.
    bool failed = false;     ///< No more will be.
  };

  /// Opens layers [0, level). Never closes one: a lower level changes nothing, nor does
  /// any once the gate has failed.
  void open_to(std::uint32_t level);

  /// No further layer will open. Those that are open stay so.
  void fail();

  reading read() const;

  /// Says when layers from 0 on have become open, before they do here: of a movement
  /// that is modelled, and carried out in one go at its end.
  void date(std::vector<std::chrono::nanoseconds> opened);

  /// What date() has said of `layer`; else nothing, and it is open when it is seen to.
  std::optional<std::chrono::nanoseconds> opened_at(std::uint32_t layer) const;

  bool is_open(std::uint32_t layer) const {
    return read().level > layer;
  }

  /// Sleeps until `layer` is open, the gate has failed, or `limit` is over.
  result<void, gate_fault> wait(std::uint32_t layer, std::chrono::nanoseconds limit);

  /// `told` is not called for what is the case already: read() afterwards.
  std::uint64_t watch(watcher told);
  void unwatch(std::uint64_t watch);

private:
  struct watching {
    std::uint64_t number;
    watcher told;
  };

  void tell_all();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  reading now_;
  std::vector<std::chrono::nanoseconds> dates_;
  std::uint64_t watches_total_ = 0;
  std::vector<std::shared_ptr<const watching>> watchers_; // oldest first
};

using gate_ptr = std::shared_ptr<gate>;

} // namespace perigee::transport
