#include "transport/streams/link.hpp"

#include <sys/epoll.h>

namespace perigee::transport::streams {

namespace {

/// What is read besides the payload at hand: the frames after it, and the begin of
/// their payload, which is then copied. So it is short.
constexpr std::size_t inbox_bytes = 4096;

/// Bytes that are read before somebody else has a turn.
constexpr std::size_t turn_bytes = std::size_t{2} << 20;

/// Frames are put in line for one call until they have so many bytes.
constexpr std::size_t load_bytes = std::size_t{64} << 10;

constexpr std::size_t parts_max = 64;

} // namespace

link::link(event_loop& loop, std::shared_ptr<stream> over, owner& told)
  : loop_(loop), stream_(std::move(over)), told_(told), inbox_(inbox_bytes) {
  watch_ = loop_.watch(stream_->fd(), EPOLLIN | EPOLLRDHUP,
                       [this](std::uint32_t events) { on_events(events); });
  if (auto life = stream_->life(); life >= 0)
    life_
      = loop_.watch(life, EPOLLIN, [this](std::uint32_t) { lose(loss::disconnected); });
  if (watch_ == 0)
    lose(loss::disconnected);
}

link::~link() {
  loop_.unwatch(watch_);
  loop_.unwatch(life_);
  if (!is_lost_)
    stream_->cut();
}

void link::on_events(std::uint32_t events) {
  if ((events & EPOLLERR) != 0 && !stream_->survives_error())
    lose(loss::disconnected);
  if ((events & ~EPOLLOUT) != 0)
    read();
  told_.on_rest();
  flush();
}

void link::lose(loss why) {
  if (is_lost_)
    return;
  is_lost_ = true;
  loop_.unwatch(watch_);
  loop_.unwatch(life_);
  stream_->cut();
  told_.on_loss(why);
}

// -- what comes ---------------------------------------------------------------

void link::read() {
  std::vector<iovec> into;
  for (std::size_t taken = 0;
       !is_lost_ && (taken < turn_bytes || stream_->has_more());) {
    into.clear();
    if (sink_) {
      auto rest = sink_->payload.rest();
      auto count = std::min(rest.size(), parts_max);
      into.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if (!sink_ || into.size() == sink_->payload.rest().size())
      into.push_back({inbox_.data(), inbox_.size()});
    auto came = stream_->receive(into);
    if (came.bytes > 0) {
      told_.on_progress();
      absorb(came.bytes);
    }
    if (came.has_ended)
      lose(loss::disconnected);
    if (came.bytes == 0)
      return;
    taken += came.bytes;
  }
}

/// So many bytes have come, into the sink first, then into the inbox.
void link::absorb(std::size_t bytes) {
  auto in_place = sink_ ? sink_->payload.advance(bytes) : 0;
  std::span<const std::byte> rest{inbox_.data(), bytes - in_place};
  do {
    if (sink_) {
      rest = rest.subspan(sink_->payload.fill(rest));
      if (sink_->payload.bytes() > 0)
        return;
      auto filled = std::exchange(sink_, std::nullopt);
      if (filled->then)
        filled->then();
    }
  } while (begin_frame(rest));
}

/// True if a frame has begun, and its payload is next.
bool link::begin_frame(std::span<const std::byte>& from) {
  if (is_lost_)
    return false;
  auto next = parser_.take(from);
  if (!next)
    lose(next.error());
  if (!next || !*next)
    return false;
  auto where = told_.on_frame(*this, std::move(**next));
  if (!where)
    lose(where.error());
  else
    sink_ = std::move(*where);
  return where.has_value();
}

// -- what goes ----------------------------------------------------------------

void link::ask(parcel what) {
  requests_.push_back(std::move(what));
}

void link::answer(parcel what) {
  ++answers_waiting_;
  answers_.push_back(std::move(what));
}

void link::flush() {
  while (!is_lost_ && has_waiting()) {
    load();
    auto went = send_some();
    if (went.bytes > 0) {
      told_.on_progress();
      sent(went.bytes);
    }
    if (went.has_ended)
      lose(loss::disconnected);
    if (went.bytes == 0)
      break;
  }
  mind_room();
}

/// Decides what goes next: at least one parcel, and few bytes, for what is urgent may
/// come before the others.
void link::load() {
  std::uint64_t bytes = 0;
  for (const auto& one : sending_)
    bytes += one.head.bytes() + one.what.payload.bytes();
  while (bytes < load_bytes && (!answers_.empty() || !requests_.empty())) {
    bool is_answer = !answers_.empty();
    auto& line = is_answer ? answers_ : requests_;
    auto& one = sending_.emplace_back(shipment{std::move(line.front()), {}, is_answer});
    line.pop_front();
    one.head.add(one.what.head.data(), one.what.head.size());
    bytes += one.head.bytes() + one.what.payload.bytes();
  }
}

progress link::send_some() {
  auto& first = sending_.front();
  auto is_pinned = [this](const shipment& one) {
    return one.what.payload.bytes() >= stream_->pinned_bytes_min();
  };
  if (first.head.bytes() == 0 && is_pinned(first)) {
    auto rest = first.what.payload.rest();
    return stream_->send_pinned(rest.first(std::min(rest.size(), parts_max)));
  }
  int passed = first.head.bytes() == first.what.head.size() && first.what.passed
                 ? first.what.passed->fd()
                 : -1;
  std::vector<iovec> from;
  for (const auto& one : sending_) {
    if (from.size() + one.head.rest().size() + one.what.payload.rest().size()
          > parts_max
        && !from.empty())
      break;
    if (&one != &first && one.what.passed)
      break; // a file goes along with the first byte of a call
    from.insert(from.end(), one.head.rest().begin(), one.head.rest().end());
    if (is_pinned(one))
      return stream_->send(from, true, passed);
    auto rest = one.what.payload.rest();
    auto count = std::min(rest.size(), parts_max - from.size());
    from.insert(from.end(), rest.begin(),
                rest.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return stream_->send(from, false, passed);
}

void link::sent(std::size_t bytes) {
  while (!sending_.empty()) {
    auto& first = sending_.front();
    bytes -= first.head.advance(bytes);
    bytes -= first.what.payload.advance(bytes);
    if (first.head.bytes() > 0 || first.what.payload.bytes() > 0)
      return;
    answers_waiting_ -= first.is_answer;
    sending_.pop_front();
  }
}

/// Asks to be told when there is room, if something waits for it.
void link::mind_room() {
  if (is_lost_)
    return;
  bool should = has_waiting() || stream_->awaits_room();
  if (should == minds_room_)
    return;
  minds_room_ = should;
  loop_.change(watch_, EPOLLIN | EPOLLRDHUP | (should ? EPOLLOUT : 0u));
}

} // namespace perigee::transport::streams
