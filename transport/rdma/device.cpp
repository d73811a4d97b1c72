#include "transport/rdma/device.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace perigee::transport::rdma {

namespace {

constexpr std::uint8_t port = 1;

/// The devices of this machine, to be walked over.
class device_list {
public:
  device_list() : all_(ibv_get_device_list(&count_)) {}

  ibv_device** begin() const {
    return all_.get();
  }
  ibv_device** end() const {
    return all_.get() + count_;
  }

private:
  int count_ = 0;
  owned<ibv_device*> all_;
};

bool over_ipv4(const ibv_gid& gid) {
  static constexpr std::uint8_t prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(std::begin(prefix), std::end(prefix), gid.raw);
}

/// How much rather than others we would be reached by it.
int preference(const ibv_gid_entry& entry) {
  return entry.gid_type != IBV_GID_TYPE_ROCE_V2 ? 0 : over_ipv4(entry.gid) ? 2 : 1;
}

bool make_nonblocking(int fd) {
  return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

verbs_error failed(const char* call) {
  return {call, errno};
}

} // namespace

std::vector<std::string> device_names() {
  std::vector<std::string> found;
  for (auto* one : device_list{})
    if (one->transport_type == IBV_TRANSPORT_IB)
      found.emplace_back(ibv_get_device_name(one));
  std::ranges::sort(found);
  return found;
}

result<std::unique_ptr<device>, verbs_error>
device::open(const std::string& name, std::uint32_t completions_wanted) {
  std::unique_ptr<device> made{new device};
  made->name_ = name;
  for (auto* one : device_list{})
    if (name == ibv_get_device_name(one))
      made->context_.reset(ibv_open_device(one));
  if (!made->context_)
    return failure(verbs_error{"ibv_open_device", ENODEV});
  if (auto done = made->make(completions_wanted); !done)
    return failure(done.error());
  if (auto done = made->look_at_port(); !done)
    return failure(done.error());
  return made;
}

result<void, verbs_error> device::make(std::uint32_t completions_wanted) {
  ibv_device_attr can{};
  if (int code = ibv_query_device(context_.get(), &can))
    return failure(verbs_error{"ibv_query_device", code});
  limits_.region_bytes_max = can.max_mr_size;
  limits_.work_requests_max = static_cast<std::uint32_t>(can.max_qp_wr);
  limits_.completions_max
    = std::min(completions_wanted, static_cast<std::uint32_t>(can.max_cqe));
  limits_.reads_max
    = static_cast<std::uint8_t>(std::clamp(can.max_qp_init_rd_atom, 1, 255));
  limits_.windows = can.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  address_.reads_max
    = static_cast<std::uint8_t>(std::clamp(can.max_qp_rd_atom, 1, 255));

  domain_.reset(ibv_alloc_pd(context_.get()));
  if (!domain_)
    return failure(failed("ibv_alloc_pd"));
  channel_.reset(ibv_create_comp_channel(context_.get()));
  if (!channel_ || !make_nonblocking(channel_->fd)
      || !make_nonblocking(context_->async_fd))
    return failure(failed("ibv_create_comp_channel"));
  completions_.reset(ibv_create_cq(context_.get(),
                                   static_cast<int>(limits_.completions_max), nullptr,
                                   channel_.get(), 0));
  if (!completions_)
    return failure(failed("ibv_create_cq"));
  return {};
}

result<void, verbs_error> device::look_at_port() {
  ibv_port_attr is{};
  if (int code = ibv_query_port(context_.get(), port, &is))
    return failure(verbs_error{"ibv_query_port", code});
  is_ethernet_ = is.link_layer == IBV_LINK_LAYER_ETHERNET;
  limits_.message_bytes_max = is.max_msg_sz;
  address_.lid = is.lid;
  address_.mtu = static_cast<std::uint8_t>(is.active_mtu);

  std::vector<ibv_gid_entry> entries(static_cast<std::size_t>(is.gid_tbl_len) + 1);
  auto count = ibv_query_gid_table(context_.get(), entries.data(), entries.size(), 0);
  entries.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  std::erase_if(entries, [](const auto& one) { return one.port_num != port; });
  auto best = std::ranges::max_element(entries, {}, preference);
  if (best == entries.end())
    return failure(verbs_error{"ibv_query_gid_table", EADDRNOTAVAIL});
  gid_index_ = static_cast<std::uint8_t>(best->gid_index);
  std::memcpy(address_.gid.data(), best->gid.raw, address_.gid.size());
  return {};
}

bool device::port_is_up() const {
  ibv_port_attr is{};
  return ibv_query_port(context_.get(), port, &is) == 0 && is.state == IBV_PORT_ACTIVE;
}

std::span<ibv_wc> device::poll(std::span<ibv_wc> into) {
  int count
    = ibv_poll_cq(completions_.get(), static_cast<int>(into.size()), into.data());
  return into.first(count > 0 ? static_cast<std::size_t>(count) : 0);
}

void device::arm() {
  ibv_req_notify_cq(completions_.get(), 0);
}

void device::take_notices() {
  ibv_cq* which = nullptr;
  void* unused = nullptr;
  unsigned count = 0;
  while (ibv_get_cq_event(channel_.get(), &which, &unused) == 0)
    ++count;
  if (count > 0)
    ibv_ack_cq_events(completions_.get(), count);
}

bool device::take_events() {
  bool works = true;
  ibv_async_event event{};
  while (ibv_get_async_event(context_.get(), &event) == 0) {
    works = works && event.event_type != IBV_EVENT_DEVICE_FATAL;
    ibv_ack_async_event(&event);
  }
  return works;
}

} // namespace perigee::transport::rdma
