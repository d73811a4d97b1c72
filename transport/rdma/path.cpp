#include "transport/rdma/path.hpp"

#include "schemas/assert.hpp"

#include <algorithm>

namespace perigee::transport::rdma {

namespace {

constexpr unsigned slot_bits = 16;
constexpr std::uint32_t depth_max = 1u << slot_bits;
constexpr unsigned doublings_max = 10;

} // namespace

path::path(std::uint8_t number, device& from, std::size_t device_number,
           const port_address& to, const path_options& how, path_routes& routes,
           path_owner& owner, path_counters& device_counters)
  : number_(number), from_(from), device_number_(device_number), to_(to), how_(how),
    routes_(routes), owner_(owner), device_counters_(device_counters),
    flights_(
      std::min({how.pair.depth, from.limits().work_requests_max, depth_max - 1})) {
  for (std::size_t slot = flights_.size(); slot > 0; --slot)
    free_.push_back(static_cast<std::uint16_t>(slot - 1));
}

path::~path() {
  drop_pair();
}

// -- what goes over it ----------------------------------------------------------

bool path::has_room(bool is_read) const {
  return is_up() && !free_.empty()
         && (bytes_in_flight_ == 0 || bytes_in_flight_ < how_.bytes_max)
         && (!is_read || reads_in_flight_ < from_.limits().reads_max);
}

unsigned path::distance(const peer_move& whose) const {
  return whose.here->distances[device_number_] + keys_.at(whose.there()).distance;
}

void path::post(const peer_move_ptr& whose, piece one) {
  const auto& there = keys_.at(whose->there());
  const auto& here = whose->here->regions[device_number_];
  auto at_here = whose->offset_here(one), at_there = whose->offset_there(one);
  whose->cut(one, std::min(here.piece_bytes() - at_here % here.piece_bytes(),
                           there.piece_bytes - at_there % there.piece_bytes));
  one_sided what;
  what.is_read = !whose->is_write;
  what.here = here.memory().base + at_here;
  what.bytes = static_cast<std::uint32_t>(one.part.bytes);
  what.key_here = here.piece(at_here / here.piece_bytes())->lkey;
  what.there = there.base + at_there;
  what.key_there = there.pieces[at_there / there.piece_bytes];

  auto number = take_slot(errand::move);
  auto& taken = flights_[number % depth_max];
  taken.whose = whose;
  taken.what = one;
  bytes_in_flight_ += one.part.bytes;
  reads_in_flight_ += what.is_read;
  if (pair_->post(what, number) != 0)
    fail();
}

bool path::carries(const peer_move& whose) const {
  return std::ranges::any_of(
    flights_, [&](const flight& one) { return one.whose.get() == &whose; });
}

std::uint64_t path::take_slot(errand kind) {
  PERIGEE_ASSERT(!free_.empty(), "who posts has looked for room");
  auto slot = free_.back();
  free_.pop_back();
  flights_[slot].kind = kind;
  return route_ << slot_bits | slot;
}

void path::release(std::size_t slot) {
  auto& one = flights_[slot];
  if (one.kind == errand::move) {
    bytes_in_flight_ -= one.what.part.bytes;
    reads_in_flight_ -= !one.whose->is_write;
  }
  one = {};
  free_.push_back(static_cast<std::uint16_t>(slot));
}

void path::completed(const ibv_wc& wc) {
  auto slot = wc.wr_id % depth_max;
  auto one = flights_.at(slot);
  PERIGEE_ASSERT(one.kind != errand::none, "a work request completes once");
  if (wc.status == IBV_WC_SUCCESS) {
    release(slot);
    succeeded(one);
  } else {
    blame(one, wc.status);
    if (one.kind == errand::move)
      release(slot);
    fail(wc.status == IBV_WC_REM_ACCESS_ERR);
  }
}

void path::succeeded(const flight& one) {
  switch (one.kind) {
    case errand::move:
      failures_ = 0;
      for (auto* counters : {&counters_, &device_counters_}) {
        counters->bytes_total += one.what.part.bytes;
        ++counters->work_requests_total;
      }
      owner_.arrived(one.whose, one.what);
      break;
    case errand::bind:
      if (auto at = grants_.find(one.granted); at != grants_.end()) {
        at->second.bound();
        tell_keys(one.granted, at->second);
      }
      bind_more();
      break;
    case errand::probe: come_up(); break;
    case errand::none: break;
  }
  if (is_up())
    owner_.can_go_on(*this);
}

/// Says what the move that `one` belongs to has to do with its failure.
void path::blame(const flight& one, ibv_wc_status status) {
  if (one.kind != errand::move)
    return;
  std::optional<fault> why;
  if (status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR
      || status == IBV_WC_REM_OP_ERR)
    why = fault::refused; // by the memory there
  else if (status == IBV_WC_LOC_PROT_ERR || status == IBV_WC_LOC_LEN_ERR)
    why = fault::gone; // the memory here is not what it was registered as
  held_.emplace_back(one, why);
}

// -- what the peer may reach ------------------------------------------------------

void path::let(segment_id which, registration_ptr what) {
  grants_.try_emplace(which, std::move(what), from_, device_number_);
  bind_more();
}

void path::revoke(segment_id which) {
  grants_.erase(which);
}

/// As many windows as there is room for, of those that are not yet bound.
void path::bind_more() {
  if (!is_up())
    return;
  for (auto& [which, what] : grants_)
    for (bool more = true; more && !free_.empty();) {
      auto number = take_slot(errand::bind);
      flights_[number % depth_max].granted = which;
      auto posted = what.post_next(*pair_, number);
      if (!posted)
        return fail();
      more = *posted;
      if (!more) {
        release(number % depth_max);
        tell_keys(which, what);
      }
    }
}

void path::tell_keys(segment_id which, grant& what) {
  if (what.told || !what.is_whole())
    return;
  what.told = true;
  const auto& region = what.region();
  owner_.say(say::keys{life(), which, what.distance(),
                       reinterpret_cast<std::uintptr_t>(region.memory().base),
                       region.piece_bytes(), what.keys()});
}

// -- its life --------------------------------------------------------------------

void path::offer() {
  auto made = queue_pair::make(from_, how_.pair);
  if (!made)
    return fail();
  pair_ = std::move(*made);
  route_ = routes_.add(this);
  // Not the last one's: its packets, if any still are on the way, must not fit.
  first_packet_ = (first_packet_ + 0x10001) & 0xffffff;
  stage_ = stage::offered;
  owner_.say(say::fresh{life(), {pair_->number(), first_packet_}});
  advance();
}

void path::advance() {
  if (stage_ == stage::offered && theirs_) {
    if (!pair_->connect(to_, *theirs_, first_packet_))
      return fail();
    stage_ = stage::connected;
    owner_.say(say::ready{life()});
  }
  if (stage_ == stage::connected && they_are_ready_) {
    stage_ = stage::probing;
    if (pair_->post_probe(take_slot(errand::probe)) != 0)
      return fail();
  }
  if (stage_ == stage::fenced && they_have_ended_)
    begin_generation();
}

void path::come_up() {
  stage_ = stage::up;
  counters_.is_up = true;
  ++counters_.connections_total;
  owner_.has_come_up(*this);
}

void path::fail(bool by_access) {
  if (stage_ == stage::fenced)
    return;
  bool was_up = is_up();
  drop_pair();
  stage_ = stage::fenced;
  since_ = std::chrono::steady_clock::now();
  ++failures_;
  if (was_up) {
    ++counters_.failures_total;
    ++device_counters_.failures_total;
  }
  owner_.say(say::ended{life(), by_access});
  owner_.has_failed(*this);
  advance();
}

/// Afterwards nothing arrives through it, nor leaves. What was in flight is held.
void path::drop_pair() {
  counters_.is_up = false;
  keys_.clear();
  grants_.clear(); // windows end before the queue pair that they are bound to
  if (pair_)
    routes_.remove(route_);
  pair_.reset();
  for (std::size_t slot = 0; slot < flights_.size(); ++slot) {
    if (flights_[slot].kind == errand::move)
      held_.emplace_back(flights_[slot], std::nullopt);
    if (flights_[slot].kind != errand::none)
      release(slot);
  }
}

void path::begin_generation() {
  ++generation_;
  theirs_.reset();
  they_are_ready_ = they_have_ended_ = false;
  stage_ = stage::resting;
  auto longer = how_.rest_min * (1u << std::min(failures_ - 1, doublings_max));
  rest_until_ = std::chrono::steady_clock::now() + std::min(longer, how_.rest_max);
  return_held();
}

void path::return_held() {
  for (auto& [one, why] : std::exchange(held_, {}))
    owner_.came_back(one.whose, one.what, why);
}

void path::look_at_clock(moment now) {
  if (stage_ != stage::resting || now < rest_until_)
    return;
  if (from_.port_is_up())
    offer();
  else
    rest_until_ = now + how_.rest_min;
}

std::optional<moment> path::owed_since() const {
  return stage_ == stage::fenced ? std::optional{since_} : std::nullopt;
}

void path::end() {
  drop_pair();
  return_held();
}

// -- what the peer says ------------------------------------------------------------

bool path::hear(const say::fresh& it) {
  if (it.of.generation != generation_ || theirs_)
    return false;
  theirs_ = it.where;
  if (stage_ == stage::resting && from_.port_is_up())
    offer(); // they don't rest, so neither do we
  else
    advance();
  return true;
}

bool path::hear(const say::ready& it) {
  if (it.of.generation != generation_ || !theirs_ || they_are_ready_)
    return false;
  they_are_ready_ = true;
  advance();
  return true;
}

bool path::hear(const say::ended& it) {
  if (it.of.generation != generation_ || they_have_ended_)
    return false;
  they_have_ended_ = true;
  if (stage_ == stage::fenced)
    advance();
  else
    fail();
  return true;
}

bool path::hear(const say::keys& it, const segment& of) {
  auto bytes = of.shape.block_bytes() * of.blocks;
  if (it.of.generation != generation_
      || (bytes - 1) / it.piece_bytes >= it.pieces.size()
      || it.base > UINT64_MAX - bytes)
    return false;
  if (stage_ == stage::probing || stage_ == stage::up)
    keys_.insert_or_assign(it.segment, it);
  if (is_up())
    owner_.can_go_on(*this);
  return true;
}

} // namespace perigee::transport::rdma
