/// \file
/// rdma: moves between processes by RDMA: the NICs read and write registered memory.
#pragma once

#include "transport/peer.hpp"

#include <memory>
#include <string>
#include <thread>

namespace perigee::transport::rdma {

struct options {
  /// Of this machine's devices these alone, in this order; empty: all. The n-th devices
  /// of two processes are connected, so a fabric of several rails wants them in the
  /// order of rails everywhere.
  std::vector<std::string> devices;

  /// Where to listen for what is said beside RDMA: numbers; "[::1]:0" for IPv6.
  std::string listen = "127.0.0.1:0";

  /// What peers are to connect to, if it is not what is listened at. Without a port, as
  /// in "192.0.2.1:0", it is the one that is listened at.
  std::string advertise{};

  /// Lets what is said beside RDMA leave this machine, though nothing encrypts it.
  bool insecure = false;

  std::size_t outstanding_max = 4096;
  std::size_t peers_max = 64;
  std::size_t segments_max = 64; ///< Of one peer, and as many that it may ask for.

  std::uint64_t slice_bytes = std::uint64_t{1} << 20;  ///< One READ or WRITE.
  std::uint64_t piece_bytes = std::uint64_t{64} << 30; ///< One registration.
  std::uint64_t flight_bytes = std::uint64_t{8} << 20; ///< At once on one path.
  std::uint32_t queue_depth = 64;                      ///< Work requests on one path.

  /// Memory windows are used where a device has them; else, and without this, each peer
  /// has registrations of its own.
  bool windows = true;

  /// How often, and after 4.096 us * 2^timeout each, a packet is sent again before its
  /// path has failed. Retries are at most 6, for 7 is for ever on some devices.
  std::uint8_t packet_retries = 5;
  std::uint8_t packet_timeout = 14;

  /// Completions are looked for so long before the thread sleeps.
  std::chrono::nanoseconds polling = std::chrono::microseconds{20};

  /// What an aborted or overdue move has in flight may come to an end by itself so
  /// long; then its paths are cut off and connected anew.
  std::chrono::nanoseconds drain_limit = std::chrono::milliseconds{200};

  /// A failed path is tried again after this, doubled each time, up to that.
  std::chrono::nanoseconds rest_min = std::chrono::milliseconds{20};
  std::chrono::nanoseconds rest_max = std::chrono::seconds{2};

  /// A peer that owes word so long, or that no path has led to so long, is lost.
  std::chrono::nanoseconds silence_limit = std::chrono::seconds{5};
};

/// What came of one path, or of one device.
struct path_report {
  std::string device;
  bool is_up = false;
  std::uint64_t bytes_total = 0;         ///< Read and written from here.
  std::uint64_t work_requests_total = 0; ///< That were done.
  std::uint64_t failures_total = 0;      ///< It was up, and failed.
  std::uint64_t connections_total = 0;   ///< It came up.
};

/// Moves by RDMA.
///
/// **Who owns the memory.** A segment is pinned and registered on all devices when it
/// is first described or moved from or to, on the caller's thread; that may take long.
/// Registrations keep the segment's memory alive until it was removed from the table
/// and its last move has been told.
///
/// **When bytes are visible to the peer.** When `then`, or a gate, tells of a write,
/// its bytes are in the peer's memory; a thread there sees them once it has heard so by a
/// message that was sent afterwards.
///
/// **Fencing.** A peer reaches memory by windows that are good for one connection
/// between two devices. Forgetting it destroys them and the connections, before that is
/// told. A segment that is removed from the table loses its windows at once, before its
/// memory is freed.
///
/// **Failures.** What was in flight on a path that fails goes over another one, or over
/// the same when it works again; the peer has confirmed by then that nothing late can
/// arrive. A peer that no path leads to for `silence_limit` is lost, as disconnected.
///
/// **What is not known.** NICs don't tell whose bytes they serve: of a peer,
/// bytes_written_total and bytes_read_total are 0.
///
/// Payloads are not encrypted, nor is what is said beside them: for networks that one
/// trusts.
class nic_transport final : public peer_transport {
public:
  struct parts;
  explicit nic_transport(std::unique_ptr<parts> made);
  ~nic_transport() override;

  result<void, fault> submit(move_id id, move what, on_done then) override;
  void abort(move_id id, fault why) override;
  void close() override;
  statistics counted() const override;

  endpoint here() const override;
  result<void, fault> expect(peer_id who, const ticket& shown,
                             std::chrono::nanoseconds for_how_long) override;
  result<void, fault> connect(peer_id who, const endpoint& where,
                              const ticket& shown) override;
  void set_rates(peer_id who, const rates& most) override;
  result<descriptor, fault> describe(segment_id which) override;
  result<void, fault> learn(peer_id who, const descriptor& what) override;
  void forget(peer_id who) override;
  std::optional<peer_statistics> counted_of(peer_id who) const override;
  std::uint64_t strangers_total() const override;

  /// Of a peer that is up; else none.
  std::vector<path_report> paths_of(peer_id who) const;
  std::vector<path_report> devices() const;

private:
  std::unique_ptr<parts> parts_;
  std::thread thread_;
};

/// Why there is no transport: a sentence for who has set it up.
struct setup_fault {
  std::string what;
};

/// Opens the devices and begins to listen. Refuses with: no device, or none of a name;
/// no address, one that others could not connect to, one beyond this machine unless
/// `insecure`, or one that the system does not give. `segments` outlives it.
result<std::unique_ptr<nic_transport>, setup_fault>
open(const segment_table& segments, const options& how, on_peer told);

} // namespace perigee::transport::rdma
