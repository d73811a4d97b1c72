#include "transport/rdma/grant.hpp"

#include <cerrno>

namespace perigee::transport::rdma {

grant::grant(registration_ptr what, const device& on, std::size_t device_number)
  : what_(std::move(what)), on_(&on), device_number_(device_number) {}

result<bool, verbs_error> grant::post_next(queue_pair& through, std::uint64_t number) {
  if (on_->limits().windows) {
    if (windows_.size() == region().pieces())
      return false;
    if (auto done = post_window(through, number); !done)
      return failure(done.error());
    return true;
  }
  while (registrations_.size() < region().pieces()) {
    auto made = registered(*on_, region().extent(registrations_.size()),
                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE
                             | IBV_ACCESS_REMOTE_READ);
    if (!made)
      return failure(made.error());
    registrations_.push_back(std::move(*made));
    bound();
  }
  return false;
}

result<void, verbs_error> grant::post_window(queue_pair& through,
                                             std::uint64_t number) {
  owned<ibv_mw> window{ibv_alloc_mw(on_->domain(), IBV_MW_TYPE_2)};
  if (!window)
    return failure(verbs_error{"ibv_alloc_mw", errno});
  auto extent = region().extent(windows_.size());
  if (int code = through.post_bind(window.get(), region().piece(windows_.size()),
                                   reinterpret_cast<std::uintptr_t>(extent.base),
                                   extent.bytes, number))
    return failure(verbs_error{"ibv_post_send of a window", code});
  windows_.push_back(std::move(window));
  return {};
}

std::vector<std::uint32_t> grant::keys() const {
  std::vector<std::uint32_t> all;
  for (const auto& one : windows_)
    all.push_back(one->rkey);
  for (const auto& one : registrations_)
    all.push_back(one->rkey);
  return all;
}

} // namespace perigee::transport::rdma
