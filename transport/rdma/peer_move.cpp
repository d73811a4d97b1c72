#include "transport/rdma/peer_move.hpp"

#include "schemas/assert.hpp"

namespace perigee::transport::rdma {

peer_move::peer_move(move_id number, move what, peer_id with, bool writes,
                     registration_ptr registered, on_done told)
  : contender{what.urgency, writes}, id(number), peer(with),
    deadline(after(what.limit)), here(std::move(registered)),
    what_(std::make_unique<const move>(std::move(what))), then_(std::move(told)),
    walk_(*what_, here->what.shape), missing_(by_layer() ? what_->layers.count : 1) {}

peer_move::state peer_move::look() const {
  if (again_.empty() && (doom_ || walk_.at_end()))
    return outstanding_ > 0 ? state::draining : state::over;
  if (!again_.empty())
    return state::ready;
  switch (opening_of(*what_, walk_.layer())) {
    case opening::open: return state::ready;
    case opening::awaited: return state::waiting;
    case opening::never: break;
  }
  return state::starved;
}

piece peer_move::next(std::uint64_t bytes_max) {
  ++outstanding_;
  if (!again_.empty()) {
    auto one = again_.front();
    again_.pop_front();
    if (one.part.bytes > bytes_max)
      cut(one, bytes_max);
    return one;
  }
  auto row = by_layer() ? walk_.layer() - what_->layers.first : 0;
  ++missing_[row];
  return {*walk_.next(bytes_max), row};
}

void peer_move::cut(piece& one, std::uint64_t bytes) {
  auto& part = one.part;
  if (part.bytes <= bytes)
    return;
  again_.push_front(
    {{part.from + bytes, part.to + bytes, part.bytes - bytes}, one.row});
  part.bytes = bytes;
  ++missing_[one.row];
}

void peer_move::give_back(const piece& one) {
  --outstanding_;
  if (!doom_)
    again_.push_front(one);
}

void peer_move::arrived(const piece& one) {
  --outstanding_;
  --missing_[one.row];
  bytes_ += one.part.bytes;
  if (what_->opens && !doom_)
    open();
}

/// All rows that have been walked over and have wholly arrived, in order.
void peer_move::open() {
  auto walked = walk_.layer() - what_->layers.first;
  auto before = rows_opened_;
  while (rows_opened_ < walked && missing_[rows_opened_] == 0)
    ++rows_opened_;
  if (rows_opened_ > before)
    what_->opens->open_to(what_->layers.first + rows_opened_);
}

void peer_move::doom(fault why) {
  if (doom_)
    return;
  doom_ = why;
  doomed_at_ = std::chrono::steady_clock::now();
  again_.clear();
}

outcome peer_move::end() {
  PERIGEE_ASSERT(look() == state::over, "a move ends once nothing is outstanding");
  if (!doom_) {
    if (what_->opens)
      what_->opens->open_to(what_->layers.end()); // also of a move of nothing
    return bytes_;
  }
  if (what_->opens)
    what_->opens->fail();
  return failure(*doom_);
}

} // namespace perigee::transport::rdma
