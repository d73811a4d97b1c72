/// \file
/// server: carries out what a peer asks of memory here.
#pragma once

#include "transport/streams/link.hpp"
#include "transport/streams/peer_book.hpp"
#include "transport/streams/shared_memory.hpp"

namespace perigee::transport::streams {

/// Of what it copies itself, the answers go at the latest after so many bytes: who asks
/// is not woken for each, and yet has asked for more before the last is copied.
inline constexpr std::uint64_t answered_bytes = std::uint64_t{4} << 20;

/// Answers over the link that a request came by. What is wrong is refused and counted;
/// what no sound peer would send is unsound.
class server {
public:
  /// `views` outlive this.
  server(peer_id whom, peer_book& book, peer_views& views)
    : whom_(whom), book_(book), views_(views) {}

  /// `what` is a request.
  result<sink, loss> serve(link& from, frame what);

private:
  sink put(link& from, const frame& what);
  sink get(link& from, const frame& what);
  sink copy(link& from, const frame& what);
  sink ask(link& from, const frame& what);
  result<sink, loss> show(link& from, const frame& what);
  sink refuse(link& from, const frame& what);

  const peer_id whom_;
  peer_book& book_;
  peer_views& views_;
  std::uint64_t copied_bytes_ = 0; // since answers were sent for that
};

/// Says that `what` lies in `where`: unasked, or in answer to `number`.
parcel showing(const segment& what, const shared_memory::place& where,
               std::uint64_t number = 0);

} // namespace perigee::transport::streams
