#include "transport/rdma/rdma.hpp"

#include "transport/rdma/engine.hpp"

#include <cerrno>
#include <cstring>

namespace perigee::transport::rdma {

/// From the bottom up: what is above goes first.
struct nic_transport::parts {
  parts(const segment_table& all, options wishes, tcp::address where,
        streams::file listening, std::vector<std::unique_ptr<device>> opened,
        on_peer told)
    : segments(all), how(std::move(wishes)), address(where), on(std::move(opened)),
      counters(on.size()), registered(segments, on, machine, how.piece_bytes),
      notes(segments, how), tasks(std::make_shared<inbox>()),
      running({how, on, counters, registered, notes, *tasks, std::move(told)},
              std::move(listening)) {}

  bool may_reach(const tcp::address& where) const {
    return how.insecure || where.is_loopback();
  }

  const segment_table& segments;
  const options how;
  const tcp::address address; // that is told to peers
  const machine_map machine = machine_map::here();
  const std::vector<std::unique_ptr<device>> on;
  std::vector<path_counters> counters; // by device
  registry registered;
  book notes;
  std::shared_ptr<inbox> tasks;
  engine running;
  std::uint64_t watch = 0;
};

// -- open and close -----------------------------------------------------------------

namespace {

result<std::vector<std::unique_ptr<device>>, setup_fault>
open_devices(const options& how) {
  auto names = how.devices.empty() ? device_names() : how.devices;
  if (names.empty())
    return failure(setup_fault{"this machine has no RDMA device"});
  if (names.size() > devices_max)
    return failure(
      setup_fault{"more than " + std::to_string(devices_max) + " RDMA devices"});
  std::vector<std::unique_ptr<device>> opened;
  for (const auto& name : names) {
    auto wanted = static_cast<std::uint32_t>(2 * how.peers_max * how.queue_depth);
    auto one = device::open(name, wanted);
    if (!one)
      return failure(setup_fault{"RDMA device " + name + ": " + one.error().call + ": "
                                 + std::strerror(one.error().code)});
    if (!how.windows)
      (*one)->renounce_windows();
    opened.push_back(std::move(*one));
  }
  return opened;
}

/// What peers are told, of one that listens.
result<tcp::address, setup_fault> advertised(const options& how,
                                             const streams::file& listening) {
  auto where = tcp::address::of(listening.fd());
  if (where && !how.advertise.empty()) {
    auto port = where->port();
    where = tcp::address::read(how.advertise);
    if (where && where->port() == 0)
      where = where->with_port(port);
  }
  if (!where || where->is_any())
    return failure(setup_fault{"'"
                               + (how.advertise.empty() ? how.listen : how.advertise)
                               + "' is no address that others could connect to"});
  return *where;
}

} // namespace

result<std::unique_ptr<nic_transport>, setup_fault>
open(const segment_table& segments, const options& how, on_peer told) {
  auto wanted = tcp::address::read(how.listen);
  if (!wanted)
    return failure(setup_fault{"'" + how.listen + "' is no address"});
  if (!wanted->is_loopback() && !how.insecure)
    return failure(setup_fault{
      "'" + how.listen + "' is beyond this machine, and RDMA is not encrypted"});
  auto listening = listen_at(*wanted);
  if (!listening)
    return failure(
      setup_fault{"can't listen at " + how.listen + ": " + std::strerror(errno)});
  auto where = advertised(how, listening);
  if (!where)
    return failure(where.error());
  auto opened = open_devices(how);
  if (!opened)
    return failure(opened.error());
  return std::make_unique<nic_transport>(std::make_unique<nic_transport::parts>(
    segments, how, *where, std::move(listening), std::move(*opened), std::move(told)));
}

nic_transport::nic_transport(std::unique_ptr<parts> made) : parts_(std::move(made)) {
  auto& all = *parts_;
  all.watch = all.segments.watch_removals(
    [&registered = all.registered, tasks = all.tasks](segment_id which) {
      registered.drop(which);
      tasks->leave([=](engine& it) { it.revoke(which); });
    });
  thread_ = std::thread{[&all] { all.running.work(); }};
}

nic_transport::~nic_transport() {
  close();
  parts_->segments.unwatch(parts_->watch);
}

void nic_transport::close() {
  parts_->notes.close();
  parts_->tasks->leave([](engine& it) { it.close(); });
  if (thread_.joinable())
    thread_.join();
}

// -- moves --------------------------------------------------------------------------

result<void, fault> nic_transport::submit(move_id id, move what, on_done then) {
  auto& all = *parts_;
  auto there = all.notes.peers.find(what.to);
  bool is_write = there.has_value();
  if (!there)
    there = all.notes.peers.find(what.from);
  if (!there)
    return all.notes.refused(fault::gone);
  auto refuse = [&](fault why) {
    all.notes.peers.missed(there->whose, why);
    return all.notes.refused(why);
  };
  if (!there->is_up)
    return refuse(fault::peer_lost);
  auto here = all.registered.of(is_write ? what.from : what.to);
  if (!here)
    return refuse(here.error());
  const auto& from = is_write ? (*here)->what : there->what;
  const auto& to = is_write ? there->what : (*here)->what;
  if (!fits(what, from, to))
    return refuse(fault::out_of_range);
  if (auto begun = all.notes.begin(id, there->whose); !begun)
    return begun;

  auto one = std::make_shared<peer_move>(id, std::move(what), there->whose, is_write,
                                         std::move(*here), std::move(then));
  if (const auto& gate = one->what().wait_for)
    one->watch
      = gate->watch([mine = std::weak_ptr{all.tasks}, weak = std::weak_ptr{one}] {
          auto tasks = mine.lock();
          auto woken = weak.lock();
          if (tasks && woken && woken->parked.exchange(false))
            tasks->leave([woken](engine& it) { it.resume(woken); });
        });
  all.tasks->leave([one](engine& it) { it.begin(one); });
  return {};
}

void nic_transport::abort(move_id id, fault why) {
  if (parts_->notes.doom(id))
    parts_->tasks->leave([=](engine& it) { it.doom(id, why); });
}

statistics nic_transport::counted() const {
  return parts_->notes.counted();
}

// -- peers --------------------------------------------------------------------------

endpoint nic_transport::here() const {
  return parts_->address.bytes();
}

result<void, fault> nic_transport::expect(peer_id who, const ticket& shown,
                                          std::chrono::nanoseconds for_how_long) {
  if (parts_->notes.is_closed())
    return failure(fault::closed);
  if (auto added = parts_->notes.peers.add(who); !added)
    return added;
  parts_->tasks->leave(
    [=, until = after(for_how_long)](engine& it) { it.expect(who, shown, until); });
  return {};
}

result<void, fault> nic_transport::connect(peer_id who, const endpoint& where,
                                           const ticket& shown) {
  if (parts_->notes.is_closed())
    return failure(fault::closed);
  auto to = tcp::address::read(where);
  if (!to || to->port() == 0 || !parts_->may_reach(*to))
    return failure(fault::refused);
  if (auto added = parts_->notes.peers.add(who); !added)
    return added;
  parts_->tasks->leave([=](engine& it) { it.connect(who, *to, shown); });
  return {};
}

void nic_transport::set_rates(peer_id who, const rates& most) {
  parts_->tasks->leave([=](engine& it) { it.set_rates(who, most); });
}

result<descriptor, fault> nic_transport::describe(segment_id which) {
  auto made = parts_->registered.of(which);
  if (!made)
    return failure(made.error());
  if (auto shown = parts_->notes.peers.show(which); !shown)
    return failure(shown.error());
  return streams::describe_segment((*made)->what);
}

result<void, fault> nic_transport::learn(peer_id who, const descriptor& what) {
  return parts_->notes.peers.learn(who, what);
}

void nic_transport::forget(peer_id who) {
  parts_->tasks->leave([=](engine& it) { it.forget(who); });
}

std::optional<peer_statistics> nic_transport::counted_of(peer_id who) const {
  return parts_->notes.peers.counted_of(who);
}

std::uint64_t nic_transport::strangers_total() const {
  return parts_->notes.strangers_total();
}

std::vector<path_report> nic_transport::paths_of(peer_id who) const {
  return parts_->notes.paths_of(who);
}

std::vector<path_report> nic_transport::devices() const {
  std::vector<path_report> all;
  for (std::size_t i = 0; i < parts_->on.size(); ++i)
    all.push_back(report_of(parts_->on[i]->name(), parts_->counters[i]));
  return all;
}

} // namespace perigee::transport::rdma
