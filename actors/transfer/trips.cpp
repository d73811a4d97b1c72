#include "actors/transfer/trips.hpp"

#include "schemas/convert.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace perigee::transfer {
namespace {

/// A bandwidth, of which 0 is no limit.
double unless_none(double bytes_per_s) {
  return bytes_per_s > 0 ? bytes_per_s : std::numeric_limits<double>::max();
}

} // namespace

trips::trips(rt::desk<transfer_actor>& desk, transfer_actor self, modelled_links links,
             then arrived)
  : desk_(desk), self_(std::move(self)), links_(links), arrived_(std::move(arrived)) {
  if (links.is_within())
    link_.emplace(std::vector<double>{unless_none(links.load_bytes_per_s),
                                      unless_none(links.store_bytes_per_s)});
}

bool trips::begin(number which, transport::move& what, link_way way,
                  const rt::cause& why, const surroundings& here) {
  if (!link_ && !links_.fabric)
    return false;
  auto over = journey_of(what, here);
  if (over.from == over.to ? !link_ : !links_.fabric)
    return false;
  auto& one
    = under_way_.emplace(which, trip{std::move(what), over, why, {}}).first->second;
  if (one.what.wait_for)
    one.last_layer = time_of_layer(one, way);
  if (!one.is_within()) {
    set_off(which, one);
  } else {
    link_->begin(which, over.bytes, {static_cast<transport::link_index>(way)},
                 desk_.now(), parts_of(one));
    watch_link();
  }
  return true;
}

/// Layers, where somebody waits for each. Not of what waits for layers itself: these go
/// on when they can.
std::uint32_t trips::parts_of(const trip& one) const {
  return one.what.opens && !one.what.wait_for ? one.what.layers.count : 0;
}

/// How long its last layer is under way, which has to wait for all the others.
trips::nanoseconds trips::time_of_layer(const trip& one, link_way way) const {
  double rate = !one.is_within()           ? links_.port_bytes_per_s
                : way == link_way::storing ? links_.store_bytes_per_s
                                           : links_.load_bytes_per_s;
  auto bytes
    = static_cast<double>(one.over.bytes) / std::max<double>(one.what.layers.count, 1);
  return nanoseconds{rate > 0 ? std::llround(bytes / rate * 1e9) : 0};
}

/// Tells the fabric. If there is none, it goes on when there is.
void trips::set_off(number which, const trip& one) {
  desk_.tell<schema::Flow>(*links_.fabric, one.why, [&](schema::Flow::Builder it) {
    set_name(it.initMover(), desk_.me());
    it.setNumber(which);
    it.setFromNode(one.over.from);
    it.setToNode(one.over.to);
    it.setBytes(one.over.bytes);
    it.setParts(parts_of(one));
  });
}

void trips::on_new_fabric() {
  for (const auto& [which, one] : under_way_)
    if (!one.is_within())
      set_off(which, one);
}

/// Sets a timer for the next end of a flow, unless one is set that is early enough.
void trips::watch_link() {
  auto next = link_->next_end();
  if (!next || (link_timer_ && *link_timer_ <= *next))
    return;
  link_timer_ = next;
  ++link_epoch_;
  desk_.tell_after<schema::Done>(self_, *next - desk_.now(), rt::unprompted,
                                 [&](auto timer) { timer.setBytes(link_epoch_); });
}

void trips::on_link_timer(std::uint64_t epoch) {
  if (!link_ || epoch != link_epoch_)
    return; // replaced by an earlier one, which has been here
  link_timer_.reset();
  for (auto gone_over : link_->take_ended(desk_.now())) {
    auto& here = under_way_.at(gone_over).layers_here = link_->take_parts(gone_over);
    for (auto& layer : here)
      layer += links_.latency;
    desk_.tell_after<schema::Done>(self_, links_.latency, rt::unprompted,
                                   [=](auto later) { later.setNumber(gone_over); });
  }
  watch_link();
}

void trips::on_flowed(schema::Flowed::Reader said) {
  auto at = under_way_.find(said.getNumber());
  if (at == under_way_.end())
    return; // it was ended meanwhile
  for (auto age : said.getPartAgesNs())
    at->second.layers_here.push_back(desk_.now()
                                     - nanoseconds{static_cast<std::int64_t>(age)});
  arrive(said.getNumber());
}

void trips::arrive(number which) {
  auto at = under_way_.find(which);
  if (at == under_way_.end())
    return; // it was ended meanwhile
  auto one = std::move(at->second);
  under_way_.erase(at);
  bool is_held_back
    = one.what.wait_for && one.what.wait_for->read().level < one.what.layers.end();
  if (is_held_back && one.last_layer.count() > 0)
    last_layers_.emplace(which, one.last_layer);
  if (one.what.opens && one.layers_here.size() == one.what.layers.count) {
    std::vector<nanoseconds> dates(one.what.layers.first); // those were open before
    dates.insert(dates.end(), one.layers_here.begin(), one.layers_here.end());
    one.what.opens->date(std::move(dates));
  }
  arrived_(which, std::move(one.what));
}

trips::nanoseconds trips::take_last_layer(number which) {
  auto found = last_layers_.extract(which);
  return found ? found.mapped() : nanoseconds{0};
}

void trips::forget(number which) {
  last_layers_.erase(which);
}

void trips::call_off(number which) {
  auto found = under_way_.extract(which);
  if (!found)
    return;
  const auto& one = found.mapped();
  if (one.what.opens)
    one.what.opens->fail();
  if (!one.is_within())
    desk_.tell<schema::StopFlow>(*links_.fabric, rt::unprompted, [&](auto it) {
      set_name(it.initMover(), desk_.me());
      it.setNumber(which);
    });
  else if (link_->cancel(which, desk_.now()))
    watch_link(); // the others are faster now
}

} // namespace perigee::transfer
