/// \file
/// registry: the segments of this process as its devices know them.
#pragma once

#include "transport/move.hpp"
#include "transport/rdma/machine_map.hpp"
#include "transport/rdma/memory_region.hpp"

#include <map>
#include <mutex>
#include <span>

namespace perigee::transport::rdma {

/// A segment, registered on all devices. Keeps the memory alive.
struct registration {
  segment what;
  std::vector<memory_region> regions;  ///< By device.
  std::vector<std::uint8_t> distances; ///< By device: from the memory.
};

using registration_ptr = std::shared_ptr<const registration>;

/// Registers segments when they are first asked for. Any thread may use it; who asks
/// waits, and nobody else.
class registry {
public:
  /// All of them outlive this.
  registry(const segment_table& segments, std::span<const std::unique_ptr<device>> on,
           const machine_map& machine, std::uint64_t piece_bytes_max);

  /// Fails with gone, and with refused: a device can't register it.
  result<registration_ptr, fault> of(segment_id which);

  /// It is asked for no longer. Who has it may go on using it.
  void drop(segment_id which);

  /// Why a device could not register a segment, the last time that one could not.
  std::optional<verbs_error> last_error() const;

private:
  struct entry {
    std::once_flag once;
    result<registration_ptr, fault> made = failure(fault::refused);
  };

  result<registration_ptr, fault> make(const segment& what);
  whereabouts place_of(const segment& what) const;

  const segment_table& segments_;
  const std::span<const std::unique_ptr<device>> on_;
  const machine_map& machine_;
  const std::uint64_t piece_bytes_max_;
  mutable std::mutex mutex_;
  std::map<segment_id, std::shared_ptr<entry>> entries_;
  std::optional<verbs_error> last_error_;
};

} // namespace perigee::transport::rdma
