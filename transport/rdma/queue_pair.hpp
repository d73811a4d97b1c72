/// \file
/// queue_pair: one end of a reliable connection between two devices.
#pragma once

#include "transport/rdma/device.hpp"

namespace perigee::transport::rdma {

/// How a queue pair is reached.
struct queue_pair_address {
  std::uint32_t number = 0; ///< 24 bits.
  std::uint32_t first_packet
    = 0; ///< 24 bits: the sequence number it begins to send at.
};

/// One READ or WRITE: bytes of one registered piece here, and of one granted piece
/// there.
struct one_sided {
  bool is_read = false;
  std::byte* here = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t key_here = 0;
  std::uint64_t there = 0;
  std::uint32_t key_there = 0;
};

struct queue_pair_options {
  std::uint32_t depth = 64; ///< Work requests outstanding at most.

  /// A packet that nobody acknowledges is sent so often again, after 4.096 us *
  /// 2^timeout each; then the queue pair fails. Never 7, with which Soft-RoCE goes on
  /// for ever.
  std::uint8_t retries = 5;
  std::uint8_t timeout = 14;
};

/// A reliable connection's (RC) queue pair. It tells of every work request by a
/// completion with the number that it was posted with; none is posted silently.
///
/// States: made and reset() → connect() → error() or a failed work request → reset().
class queue_pair {
public:
  static result<queue_pair, verbs_error> make(const device& on, queue_pair_options how);

  std::uint32_t number() const {
    return made_->qp_num;
  }

  /// From any state; to be connected anew. Nothing may be outstanding.
  result<void, verbs_error> reset();

  /// To `there` on `port`. May be posted to when this has returned; the other end
  /// answers once it was connected as well.
  result<void, verbs_error> connect(const port_address& port, queue_pair_address there,
                                    std::uint32_t first_packet);

  /// What is outstanding will complete, flushed or done. When this has returned, the
  /// other end can no longer reach memory here through this queue pair.
  void error();

  /// Nothing if it was taken; else errno.
  int post(const one_sided& what, std::uint64_t number);

  /// A WRITE of no bytes: it completes well if the other end can be reached.
  int post_probe(std::uint64_t number);

  /// Makes `window` a way to `memory`, a part of `region`, for the other end of this
  /// queue pair and nobody else. The key is its rkey from now on; it works once this
  /// has completed.
  int post_bind(ibv_mw* window, ibv_mr* region, std::uint64_t base, std::uint64_t bytes,
                std::uint64_t number);

private:
  const device* on_ = nullptr;
  queue_pair_options how_;
  owned<ibv_qp> made_;
};

} // namespace perigee::transport::rdma
