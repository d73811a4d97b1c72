/// \file
/// Memory that transports may read and write: registered once, named by a number.
#pragma once

#include "schemas/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace perigee::transport {

/// Names a segment in a whole cluster. Whoever registers it chooses, and never again
/// the same: a late transfer to memory that is gone must not find its successor.
enum class segment_id : std::uint64_t {};

/// How blocks lie in a segment: block b begins at b * block_bytes(), and its layer l
/// lies l * layer_bytes behind that.
struct geometry {
  std::uint64_t layer_bytes = 0;
  std::uint32_t layers = 0;

  bool operator==(const geometry&) const = default;

  /// Of a geometry that segment_table::add() had nothing against.
  std::uint64_t block_bytes() const {
    return layers * layer_bytes;
  }
};

/// That memory is a GPU's, and how a NIC comes at it.
struct device_memory {
  int dmabuf = -1; ///< A dma-buf of the kernel; open as long as the memory is there.
  std::uint64_t offset = 0; ///< Of the segment's base in it.
  std::string pci_bus_id{}; ///< As 0000:18:00.0. Empty: not known.
};

/// A region of memory, cut into blocks. `keep_alive` is what owns it: as long as a copy
/// of this exists, the memory does.
///
/// `base` is null for a modelled device, which has a size and no bytes: moves from or
/// to it are checked, gated and counted like others, but copy nothing.
struct segment {
  segment_id id{};
  std::byte* base = nullptr;
  geometry shape;
  std::uint32_t blocks = 0;
  std::shared_ptr<const void> keep_alive;
  std::uint32_t host = 0; ///< Segments of one host need no network between them.
  std::optional<device_memory> device{}; ///< None: the memory of processors.
};

/// Whether it has blocks, layers and bytes, and not more than can be addressed.
bool has_shape(const segment& what);

enum class segment_fault : std::uint8_t {
  taken = 1, ///< The id names another segment.
  shapeless, ///< See has_shape().
  full,      ///< As many are registered as may be.
};

/// The segments of one process. Any thread may use it.
class segment_table {
public:
  explicit segment_table(std::size_t segments_max = 4096)
    : segments_max_(segments_max) {}

  result<void, segment_fault> add(segment what);

  /// Moves that are submitted from now on don't find it. Those under way go on, and the
  /// memory lives until the last of them has been told. False if there is none.
  bool remove(segment_id id);

  /// Called with each segment that remove() takes out, before that returns, on its
  /// thread and without a lock. As with gates, once more perhaps after unwatch().
  using watcher = std::function<void(segment_id)>;
  std::uint64_t watch_removals(watcher told) const;
  void unwatch(std::uint64_t watch) const;

  std::optional<segment> find(segment_id id) const;

  std::size_t size() const;

  /// Of all that are registered, in order.
  std::vector<segment_id> ids() const;

private:
  const std::size_t segments_max_;
  mutable std::mutex mutex_;
  std::map<segment_id, segment> segments_;
  mutable std::uint64_t watches_total_ = 0;
  mutable std::map<std::uint64_t, std::shared_ptr<const watcher>> watchers_;
};

} // namespace perigee::transport
