#include "transport/move_run.hpp"

#include <algorithm>
#include <cstring>

namespace perigee::transport {

bool fits(const move& what, const segment& from, const segment& to) {
  if (from.shape != to.shape || what.layers.first > from.shape.layers
      || what.layers.count > from.shape.layers - what.layers.first)
    return false;
  return std::ranges::all_of(what.pairs, [&](const block_pair& pair) {
    return pair.from < from.blocks && pair.to < to.blocks;
  });
}

// -- slice_walk ---------------------------------------------------------------

slice_walk::slice_walk(const move& what, geometry shape)
  : shape_(shape), layers_(what.layers), pairs_(&what.pairs),
    by_layer_(what.wait_for || what.opens), rows_(by_layer_ ? layers_.count : 1) {
  if (layers_.count == 0 || pairs_->empty())
    row_ = rows_; // nothing to walk over
}

slice slice_walk::whole(std::size_t pair) const {
  auto [from, to] = (*pairs_)[pair];
  std::uint64_t layer = layers_.first + (by_layer_ ? row_ : 0);
  auto begin = layer * shape_.layer_bytes;
  return {from * shape_.block_bytes() + begin, to * shape_.block_bytes() + begin,
          (by_layer_ ? 1 : layers_.count) * shape_.layer_bytes};
}

std::optional<slice> slice_walk::next(std::uint64_t bytes_max) {
  if (at_end())
    return std::nullopt;
  auto found = whole(pair_);
  found = {found.from + done_, found.to + done_, found.bytes - done_};
  while (found.bytes <= bytes_max && ++pair_ < pairs_->size()) {
    auto beside = whole(pair_);
    if (beside.from != found.from + found.bytes || beside.to != found.to + found.bytes)
      break;
    found.bytes += beside.bytes;
  }
  done_ = 0;
  if (found.bytes > bytes_max) { // what is left over belongs to the pair at hand
    auto left = found.bytes - bytes_max;
    done_ = whole(pair_).bytes - left;
    found.bytes = bytes_max;
  } else if (pair_ == pairs_->size()) {
    pair_ = 0;
    ++row_;
  }
  return found;
}

std::uint64_t slice_walk::skip_layer() {
  if (at_end())
    return 0;
  ++row_;
  return pairs_->size() * whole(0).bytes;
}

// -- move_run -----------------------------------------------------------------

result<move_run, fault> move_run::begin(move what, segment from, segment to) {
  if (!fits(what, from, to))
    return failure(fault::out_of_range);
  return move_run{std::move(what), std::move(from), std::move(to)};
}

move_run::move_run(move what, segment from, segment to)
  : what_(std::make_unique<const move>(std::move(what))), from_(std::move(from)),
    to_(std::move(to)), walk_(*what_, from_.shape) {}

opening opening_of(const move& what, std::uint32_t layer) {
  if (!what.wait_for)
    return opening::open;
  auto gate = what.wait_for->read();
  if (gate.level > layer)
    return opening::open;
  return gate.failed ? opening::never : opening::awaited;
}

move_run::state move_run::look() const {
  if (walk_.at_end())
    return state::done;
  switch (opening_of(*what_, walk_.layer())) {
    case opening::open: return state::ready;
    case opening::awaited: return state::waiting;
    case opening::never: break;
  }
  return state::starved;
}

void move_run::turn(std::uint64_t bytes_max) {
  std::uint64_t copied = 0;
  while (copied < bytes_max && look() == state::ready) {
    copied += has_memory() ? copy(*walk_.next(bytes_max - copied)) : walk_.skip_layer();
    if (what_->opens)
      what_->opens->open_to(walk_.layer());
  }
  bytes_ += copied;
  if (what_->opens && walk_.at_end()) // also where there was nothing to copy
    what_->opens->open_to(what_->layers.end());
}

outcome move_run::end(std::optional<fault> why) {
  if (!why)
    return bytes_;
  if (what_->opens)
    what_->opens->fail();
  return failure(*why);
}

/// Modelled segments have none: of their moves there is nothing but the sum.
bool move_run::has_memory() const {
  return from_.base && to_.base;
}

std::uint64_t move_run::copy(const slice& part) {
  // A block may be moved onto itself: memmove.
  std::memmove(to_.base + part.to, from_.base + part.from, part.bytes);
  return part.bytes;
}

} // namespace perigee::transport
