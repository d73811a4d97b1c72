#include "transport/shm/shm.hpp"

#include "transport/shm/unix_port.hpp"

namespace perigee::transport::shm {

result<std::unique_ptr<peer_transport>, setup_fault>
open(const segment_table& segments, std::shared_ptr<const memory> from,
     const options& how, on_peer told) {
  auto way = unix_port::open(how);
  if (!way)
    return failure(way.error());
  auto loop = streams::event_loop::make();
  if (!loop)
    return failure(setup_fault{"the system has no file descriptor left"});
  auto limits = how.limits;
  limits.reception.links = 1; // what is shown must come before it is named
  return std::unique_ptr<peer_transport>{std::make_unique<streams::stream_transport>(
    segments, std::move(loop), std::move(*way), limits, std::move(told),
    std::move(from))};
}

} // namespace perigee::transport::shm
