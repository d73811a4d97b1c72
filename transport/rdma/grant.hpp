/// \file
/// grant: what lets one peer come at one segment, over one path.
#pragma once

#include "transport/rdma/queue_pair.hpp"
#include "transport/rdma/registry.hpp"

namespace perigee::transport::rdma {

/// Memory windows of type 2B, one a piece of the segment, which are good for one queue
/// pair and end with this; where the device has none, registrations of the peer's own.
/// No key is ever good again: so a stale one can't write.
class grant {
public:
  grant(registration_ptr what, const device& on, std::size_t device_number);

  /// Posts the next window to be bound with `number`, if there is one (true). An error
  /// of the device is one of the path.
  result<bool, verbs_error> post_next(queue_pair& through, std::uint64_t number);

  /// One that was posted has completed.
  void bound() {
    ++bound_;
  }

  /// All keys work.
  bool is_whole() const {
    return bound_ == region().pieces();
  }

  std::vector<std::uint32_t> keys() const;
  const memory_region& region() const {
    return what_->regions[device_number_];
  }
  std::uint8_t distance() const {
    return what_->distances[device_number_];
  }

  bool told = false; ///< The peer has been given the keys.

private:
  result<void, verbs_error> post_window(queue_pair& through, std::uint64_t number);

  registration_ptr what_; // outlives the windows
  const device* on_;
  std::size_t device_number_;
  std::size_t bound_ = 0;
  std::vector<owned<ibv_mw>> windows_;
  std::vector<owned<ibv_mr>> registrations_;
};

} // namespace perigee::transport::rdma
