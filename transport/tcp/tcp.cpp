#include "transport/tcp/tcp.hpp"

#include "transport/tcp/tcp_port.hpp"

namespace perigee::transport::tcp {

result<std::unique_ptr<peer_transport>, setup_fault>
open(const segment_table& segments, const options& how, on_peer told) {
  auto way = tcp_port::open(how);
  if (!way)
    return failure(way.error());
  auto loop = streams::event_loop::make();
  if (!loop)
    return failure(setup_fault{"the system has no file descriptor left"});
  auto limits = how.limits;
  limits.reception.links = how.links;
  return std::unique_ptr<peer_transport>{std::make_unique<streams::stream_transport>(
    segments, std::move(loop), std::move(*way), limits, std::move(told))};
}

} // namespace perigee::transport::tcp
