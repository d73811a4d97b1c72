#include "transport/rdma/rdma.hpp"

#include "transport/rdma/engine.hpp"

#include <arpa/inet.h>

#include <cstring>

namespace perigee::transport {

using namespace verbs;

/// From the bottom up: what is above goes first.
struct rdma::parts {
  parts(segment_table& all, on_peer told, rdma_options wishes, line_address where,
        owned_fd listening, std::vector<std::unique_ptr<device>> opened)
    : segments(all), how(std::move(wishes)), address(where), on(std::move(opened)),
      counters(on.size()), registered(segments, on, machine, how.piece_bytes),
      notes(how), tasks(std::make_shared<inbox>()),
      running({how, on, counters, registered, notes, *tasks, std::move(told)},
              std::move(listening)) {}

  segment_table& segments;
  const rdma_options how;
  const line_address address;
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

result<std::vector<std::unique_ptr<device>>, std::string>
open_devices(const rdma_options& how) {
  auto names = how.devices.empty() ? device_names() : how.devices;
  if (names.empty())
    return failure(std::string{"this machine has no RDMA device"});
  if (names.size() > devices_max)
    return failure("more than " + std::to_string(devices_max) + " RDMA devices");
  std::vector<std::unique_ptr<device>> opened;
  for (const auto& name : names) {
    auto wanted = static_cast<std::uint32_t>(2 * how.peers_max * how.queue_depth);
    auto one = device::open(name, wanted);
    if (!one)
      return failure("RDMA device " + name + ": " + one.error().call + ": "
                     + std::strerror(one.error().code));
    if (!how.windows)
      (*one)->renounce_windows();
    opened.push_back(std::move(*one));
  }
  return opened;
}

} // namespace

result<std::unique_ptr<rdma>, std::string> rdma::open(segment_table& segments,
                                                      on_peer told, rdma_options how) {
  line_address where;
  if (inet_pton(AF_INET, how.address.c_str(), where.host.data()) != 1)
    return failure("'" + how.address + "' is no IPv4 address");
  auto listening = listen_at(where);
  if (!listening)
    return failure("can't listen at " + how.address + ": " + std::strerror(errno));
  auto opened = open_devices(how);
  if (!opened)
    return failure(opened.error());
  where = address_of(listening);
  return std::unique_ptr<rdma>{
    new rdma{std::make_unique<parts>(segments, std::move(told), std::move(how), where,
                                     std::move(listening), std::move(*opened))}};
}

rdma::rdma(std::unique_ptr<parts> made) : parts_(std::move(made)) {
  auto& all = *parts_;
  all.watch = all.segments.watch_removals(
    [&registered = all.registered, tasks = all.tasks](segment_id which) {
      registered.drop(which);
      tasks->leave([=](engine& it) { it.revoke(which); });
    });
  thread_ = std::thread{[&all] { all.running.work(); }};
}

rdma::~rdma() {
  close();
  parts_->segments.unwatch(parts_->watch);
}

void rdma::close() {
  parts_->notes.close();
  parts_->tasks->leave([](engine& it) { it.close(); });
  if (thread_.joinable())
    thread_.join();
}

// -- moves --------------------------------------------------------------------------

result<void, fault> rdma::submit(move_id id, move what, on_done then) {
  auto& all = *parts_;
  auto there = all.notes.find(what.to);
  bool is_write = there.has_value();
  if (!there)
    there = all.notes.find(what.from);
  if (!there)
    return all.notes.refused(fault::gone);
  if (!there->is_up)
    return all.notes.refused(fault::peer_lost);
  auto here = all.registered.of(is_write ? what.from : what.to);
  if (!here)
    return all.notes.refused(here.error());
  const auto& from = is_write ? (*here)->what : there->what;
  const auto& to = is_write ? there->what : (*here)->what;
  if (!fits(what, from, to))
    return all.notes.refused(fault::out_of_range);
  if (auto begun = all.notes.begin(id); !begun)
    return begun;

  auto one = std::make_shared<peer_move>(id, std::move(what), there->owner, is_write,
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

void rdma::abort(move_id id, fault why) {
  if (parts_->notes.doom(id))
    parts_->tasks->leave([=](engine& it) { it.doom(id, why); });
}

statistics rdma::counted() const {
  return parts_->notes.counted();
}

// -- peers --------------------------------------------------------------------------

endpoint rdma::here() const {
  return encode_endpoint(parts_->address);
}

result<void, fault> rdma::expect(peer_id who, const ticket& shown,
                                 std::chrono::nanoseconds for_how_long) {
  if (auto added = parts_->notes.add_peer(who); !added)
    return added;
  parts_->tasks->leave(
    [=, until = after(for_how_long)](engine& it) { it.expect(who, shown, until); });
  return {};
}

result<void, fault> rdma::connect(peer_id who, const endpoint& where,
                                  const ticket& shown) {
  auto address = decode_endpoint(where);
  if (!address)
    return failure(fault::refused);
  if (auto added = parts_->notes.add_peer(who); !added)
    return added;
  parts_->tasks->leave([=, to = *address](engine& it) { it.connect(who, to, shown); });
  return {};
}

result<descriptor, fault> rdma::describe(segment_id which) {
  auto shown = parts_->registered.show(which);
  if (!shown)
    return failure(shown.error());
  return encode_descriptor((*shown)->what);
}

result<void, fault> rdma::learn(peer_id who, const descriptor& what) {
  auto segment = decode_descriptor(what);
  if (!parts_->notes.counted_of(who))
    return failure(fault::gone);
  if (!segment || parts_->segments.find(segment->id))
    return failure(fault::refused);
  return parts_->notes.learn(who, *segment);
}

void rdma::forget(peer_id who) {
  parts_->tasks->leave([=](engine& it) { it.forget(who); });
}

std::optional<peer_statistics> rdma::counted_of(peer_id who) const {
  return parts_->notes.counted_of(who);
}

std::uint64_t rdma::strangers_total() const {
  return parts_->notes.strangers_total();
}

std::vector<rdma_path_report> rdma::paths_of(peer_id who) const {
  return parts_->notes.paths_of(who);
}

std::vector<rdma_path_report> rdma::devices() const {
  std::vector<rdma_path_report> all;
  for (std::size_t i = 0; i < parts_->on.size(); ++i)
    all.push_back(report_of(parts_->on[i]->name(), parts_->counters[i]));
  return all;
}

} // namespace perigee::transport
