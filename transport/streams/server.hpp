/// \file
/// server: carries out what a peer asks of memory here.
#pragma once

#include "transport/streams/link.hpp"
#include "transport/streams/peer_book.hpp"

namespace perigee::transport::streams {

/// Answers over the link that a request came by. What is wrong is refused and counted;
/// what no sound peer would send is unsound.
class server {
public:
  server(peer_id whom, peer_book& book) : whom_(whom), book_(book) {}

  /// `what` is a request.
  result<sink, loss> serve(link& from, frame what);

private:
  sink put(link& from, const frame& what);
  sink get(link& from, const frame& what);
  sink refuse(link& from, const frame& what);

  const peer_id whom_;
  peer_book& book_;
};

} // namespace perigee::transport::streams
