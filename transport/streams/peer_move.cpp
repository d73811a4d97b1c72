#include "transport/streams/peer_move.hpp"

namespace perigee::transport::streams {

peer_move::peer_move(move what, geometry shape)
  : what_(std::make_unique<const move>(std::move(what))), walk_(*what_, shape) {}

peer_move::state peer_move::look() const {
  if (walk_.at_end())
    return state::at_end;
  switch (opening_of(*what_, walk_.layer())) {
    case opening::open: return state::ready;
    case opening::awaited: return state::waiting;
    case opening::never: break;
  }
  return state::starved;
}

piece peer_move::next(std::uint64_t bytes_max, std::size_t slices_max) {
  piece made;
  made.layer = walk_.layer();
  while (!walk_.at_end() && walk_.layer() == made.layer && made.bytes < bytes_max
         && made.slices.size() < slices_max) {
    made.slices.push_back(*walk_.next(bytes_max - made.bytes));
    made.bytes += made.slices.back().bytes;
  }
  ++under_way_[made.layer];
  return made;
}

void peer_move::landed(const piece& what) {
  bytes_ += what.bytes;
  leave(what);
  open();
}

void peer_move::missed(const piece& what) {
  has_missed_ = true;
  leave(what);
}

void peer_move::leave(const piece& what) {
  auto at = under_way_.find(what.layer);
  if (--at->second == 0)
    under_way_.erase(at);
}

/// Up to the first layer of which something is missing.
void peer_move::open() {
  if (!what_->opens || has_missed_)
    return;
  if (!under_way_.empty())
    what_->opens->open_to(under_way_.begin()->first);
  else
    what_->opens->open_to(walk_.at_end() ? what_->layers.end() : walk_.layer());
}

outcome peer_move::end(std::optional<fault> why) {
  if (!why) {
    open(); // also where there was nothing to move
    return bytes_;
  }
  if (what_->opens)
    what_->opens->fail();
  return failure(*why);
}

} // namespace perigee::transport::streams
