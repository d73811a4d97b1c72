/// \file
/// stream_transport: a peer_transport over connections, of whatever kind.
#pragma once

#include "transport/streams/peer_book.hpp"
#include "transport/streams/reception.hpp"
#include "transport/streams/session.hpp"

#include <thread>

namespace perigee::transport::streams {

struct stream_limits {
  std::size_t outstanding_max = 4096; ///< Moves.
  book_limits book{};
  session_limits session{};
  reception_limits reception{};
};

/// Has one thread, which does all that is not a check of arguments.
class stream_transport : public peer_transport {
public:
  /// `segments` outlives this. `shared` is null where there is no memory that both ends
  /// can see.
  stream_transport(const segment_table& segments, std::unique_ptr<event_loop> loop,
                   std::unique_ptr<port> way, const stream_limits& limits, on_peer told,
                   std::shared_ptr<const shared_memory> shared = nullptr);
  ~stream_transport() override;

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

private:
  class hub;

  std::shared_ptr<hub> hub_; // gates hold it, weakly
  std::thread thread_;
};

} // namespace perigee::transport::streams
