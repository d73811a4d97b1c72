/// \file
/// device: one RDMA device of this machine, opened, with a queue for completions.
#pragma once

#include "transport/rdma/verbs.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace perigee::transport::rdma {

/// How the queue pairs of other machines reach a device.
struct port_address {
  std::array<std::uint8_t, 16> gid{};
  std::uint16_t lid = 0;      ///< InfiniBand; 0 over Ethernet.
  std::uint8_t mtu = 0;       ///< As ibv_mtu: 1 is 256 bytes, 5 is 4096.
  std::uint8_t reads_max = 0; ///< It serves so many READs of one queue pair at once.
};

struct device_limits {
  std::uint64_t region_bytes_max = 0;
  std::uint64_t message_bytes_max = 0;
  std::uint32_t work_requests_max = 0; ///< Of one queue pair.
  std::uint32_t completions_max = 0;   ///< That the completion queue here has room for.
  std::uint8_t reads_max = 0;          ///< A queue pair may await so many at once.
  bool windows = false;                ///< Memory windows of type 2B.
};

/// The names of this machine's devices that have an Ethernet or InfiniBand port, in
/// alphabetical order.
std::vector<std::string> device_names();

/// All of it is used by one thread. Queue pairs, regions and windows made of it must
/// end before it does.
class device {
public:
  /// The port is the first, its address the first of RoCE v2 over IPv4, else of RoCE
  /// v2, else of the port. A port that is down is no error: see port_is_up().
  /// `completions_wanted` entries at most, fewer if the device has not so many.
  static result<std::unique_ptr<device>, verbs_error>
  open(const std::string& name, std::uint32_t completions_wanted);

  const std::string& name() const {
    return name_;
  }
  const device_limits& limits() const {
    return limits_;
  }
  /// As if it had none.
  void renounce_windows() {
    limits_.windows = false;
  }
  const port_address& address() const {
    return address_;
  }
  std::uint8_t gid_index() const {
    return gid_index_;
  }
  bool is_ethernet() const {
    return is_ethernet_;
  }

  bool port_is_up() const;

  ibv_context* context() const {
    return context_.get();
  }
  ibv_pd* domain() const {
    return domain_.get();
  }
  ibv_cq* completions() const {
    return completions_.get();
  }

  /// Readable when a completion has come since arm().
  int completions_fd() const {
    return channel_->fd;
  }
  /// Readable when the port or the device has changed.
  int events_fd() const {
    return context_->async_fd;
  }

  /// The next completions; an empty span if there are none.
  std::span<ibv_wc> poll(std::span<ibv_wc> into);

  /// After it has returned, and then poll() nothing, a completion makes
  /// completions_fd() readable.
  void arm();

  /// Takes what made completions_fd() or events_fd() readable. False: the device itself
  /// has failed or is gone.
  void take_notices();
  bool take_events();

private:
  device() = default;

  result<void, verbs_error> make(std::uint32_t completions_wanted);
  result<void, verbs_error> look_at_port();

  std::string name_;
  device_limits limits_;
  port_address address_;
  std::uint8_t gid_index_ = 0;
  bool is_ethernet_ = false;
  owned<ibv_context> context_;
  owned<ibv_pd> domain_;
  owned<ibv_comp_channel> channel_;
  owned<ibv_cq> completions_;
};

} // namespace perigee::transport::rdma
