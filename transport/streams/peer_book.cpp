#include "transport/streams/peer_book.hpp"

#include "schemas/assert.hpp"
#include "transport/streams/little_endian.hpp"

namespace perigee::transport::streams {

// -- descriptors --------------------------------------------------------------

namespace {
constexpr std::size_t descriptor_bytes = 24;
} // namespace

descriptor describe_segment(const segment& what) {
  descriptor made(descriptor_bytes);
  put64(&made[0], static_cast<std::uint64_t>(what.id));
  put64(&made[8], what.shape.layer_bytes);
  put32(&made[16], what.shape.layers);
  put32(&made[20], what.blocks);
  return made;
}

std::optional<segment> read_descriptor(const descriptor& what) {
  if (what.size() != descriptor_bytes)
    return std::nullopt;
  segment made;
  made.id = segment_id{get64(&what[0])};
  made.shape = {.layer_bytes = get64(&what[8]), .layers = get32(&what[16])};
  made.blocks = get32(&what[20]);
  if (!has_shape(made))
    return std::nullopt;
  return made;
}

// -- peer_book ----------------------------------------------------------------

result<void, fault> peer_book::add(peer_id who) {
  std::lock_guard held{mutex_};
  PERIGEE_ASSERT(!peers_.contains(who), "two peers of one name");
  if (peers_.size() >= limits_.peers_max)
    return failure(fault::busy);
  peers_.try_emplace(who);
  return {};
}

void peer_book::set_state(peer_id who, peer_state now) {
  change(who, [&](entry& one) { one.state = now; });
}

void peer_book::erase(peer_id who) {
  std::lock_guard held{mutex_};
  auto at = peers_.find(who);
  if (at == peers_.end())
    return;
  for (const auto& [id, what] : at->second.segments)
    owners_.erase(id);
  peers_.erase(at);
}

result<void, fault> peer_book::learn(peer_id who, const descriptor& what) {
  auto made = read_descriptor(what);
  std::lock_guard held{mutex_};
  auto at = peers_.find(who);
  if (at == peers_.end() || at->second.state == peer_state::lost)
    return failure(fault::gone);
  if (!made || here_.find(made->id))
    return failure(fault::refused);
  auto& segments = at->second.segments;
  if (auto same = segments.find(made->id); same != segments.end()) {
    if (same->second.shape != made->shape || same->second.blocks != made->blocks)
      return failure(fault::refused);
    return {};
  }
  if (owners_.contains(made->id))
    return failure(fault::refused);
  if (segments.size() >= limits_.segments_max)
    return failure(fault::busy);
  owners_.emplace(made->id, who);
  segments.emplace(made->id, *made);
  return {};
}

std::optional<peer_book::finding> peer_book::find(segment_id which) const {
  std::lock_guard held{mutex_};
  auto owner = owners_.find(which);
  if (owner == owners_.end())
    return std::nullopt;
  const auto& one = peers_.at(owner->second);
  return finding{owner->second, one.segments.at(which), one.state == peer_state::up};
}

// -- what is shown ------------------------------------------------------------

result<void, fault> peer_book::show(segment_id which) {
  std::lock_guard held{mutex_};
  if (shown_.size() >= limits_.shown_max)
    std::erase_if(shown_, [this](segment_id one) { return !here_.find(one); });
  if (shown_.size() >= limits_.shown_max && !shown_.contains(which))
    return failure(fault::busy);
  shown_.insert(which);
  return {};
}

std::optional<segment> peer_book::find_shown(segment_id which) const {
  {
    std::lock_guard held{mutex_};
    if (!shown_.contains(which))
      return std::nullopt;
  }
  return here_.find(which);
}

// -- counting -----------------------------------------------------------------

void peer_book::began(peer_id whose) {
  change(whose, [](entry& one) { ++one.outstanding; });
}

void peer_book::ended(peer_id whose, const outcome& what) {
  change(whose, [&](entry& one) {
    --one.outstanding;
    one.moves.ended(what);
  });
}

void peer_book::missed(peer_id whose, fault why) {
  change(whose, [&](entry& one) { static_cast<void>(one.moves.refused(why)); });
}

void peer_book::served_write(peer_id whom, std::uint64_t bytes) {
  change(whom, [&](entry& one) { one.served.bytes_written_total += bytes; });
}

void peer_book::served_read(peer_id whom, std::uint64_t bytes) {
  change(whom, [&](entry& one) { one.served.bytes_read_total += bytes; });
}

void peer_book::refused_request(peer_id whose) {
  change(whose, [](entry& one) { ++one.served.requests_refused_total; });
}

std::optional<peer_statistics> peer_book::counted_of(peer_id who) const {
  std::lock_guard held{mutex_};
  auto at = peers_.find(who);
  if (at == peers_.end())
    return std::nullopt;
  auto counts = at->second.served;
  counts.moves = at->second.moves.read(at->second.outstanding);
  return counts;
}

} // namespace perigee::transport::streams
