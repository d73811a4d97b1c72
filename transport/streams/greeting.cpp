#include "transport/streams/greeting.hpp"

#include <sys/epoll.h>

namespace perigee::transport::streams {

namespace {

template <std::size_t Bytes>
std::span<const std::byte, Bytes> first(const std::vector<std::byte>& from) {
  return std::span{from}.template first<Bytes>();
}

} // namespace

greeting::greeting(event_loop& loop, std::shared_ptr<stream> over, const hello& shown,
                   std::chrono::nanoseconds limit, on_end then)
  : loop_(loop), stream_(std::move(over)), then_(std::move(then)),
    hearing_(welcome_bytes) {
  auto bytes = write(shown);
  saying_.assign(bytes.begin(), bytes.end());
  begin(limit);
}

greeting::greeting(event_loop& loop, std::shared_ptr<stream> over, judge is_good,
                   std::chrono::nanoseconds limit, on_end then)
  : loop_(loop), stream_(std::move(over)), is_good_(std::move(is_good)),
    then_(std::move(then)), hearing_(hello::bytes) {
  begin(limit);
}

greeting::~greeting() {
  loop_.unwatch(watch_);
  loop_.cancel(limit_);
}

void greeting::begin(std::chrono::nanoseconds limit) {
  limit_ = loop_.at(after(limit), [this] { end(loss::unreachable); });
  watch_ = loop_.watch(stream_->fd(), EPOLLIN | EPOLLOUT,
                       [this](std::uint32_t) { on_events(); });
  if (watch_ == 0)
    end(loss::unreachable);
}

void greeting::on_events() {
  while (advance()) {
  }
  if (at_ != step::over)
    loop_.change(watch_,
                 at_ == step::say || stream_->awaits_room() ? EPOLLOUT : EPOLLIN);
}

/// False if it has to wait, or is over.
bool greeting::advance() {
  switch (at_) {
    case step::shake: return shake();
    case step::say: return say();
    case step::hear: return hear();
    case step::over: return false;
  }
  return false;
}

bool greeting::shake() {
  auto is_done = stream_->shake_hands();
  if (!is_done)
    end(is_done.error());
  if (!is_done || !*is_done)
    return false;
  at_ = is_good_ ? step::hear : step::say;
  return true;
}

bool greeting::say() {
  iovec rest{saying_.data() + said_, saying_.size() - said_};
  auto went = stream_->send({&rest, 1}, false, -1);
  said_ += went.bytes;
  if (went.has_ended)
    end(loss::unreachable);
  else if (said_ == saying_.size() && is_good_)
    end(is_welcome_ ? std::nullopt : std::optional{loss::turned_away});
  else if (said_ == saying_.size())
    at_ = step::hear;
  return went.bytes > 0;
}

bool greeting::hear() {
  iovec rest{hearing_.data() + heard_, hearing_.size() - heard_};
  auto came = stream_->receive({&rest, 1});
  heard_ += came.bytes;
  if (came.has_ended)
    end(loss::turned_away);
  else if (heard_ == hearing_.size() && is_good_)
    on_hello();
  else if (heard_ == hearing_.size())
    on_welcome();
  return came.bytes > 0;
}

void greeting::on_hello() {
  auto shown = read_hello(first<hello::bytes>(hearing_));
  is_welcome_ = shown && is_good_(*shown);
  auto bytes = write_welcome(is_welcome_);
  saying_.assign(bytes.begin(), bytes.end());
  at_ = step::say;
}

void greeting::on_welcome() {
  auto said = read_welcome(first<welcome_bytes>(hearing_));
  end(said && *said ? std::nullopt : std::optional{loss::turned_away});
}

void greeting::end(std::optional<loss> why) {
  at_ = step::over;
  loop_.unwatch(watch_);
  loop_.cancel(limit_);
  loop_.post([then = then_, over = stream_, why] {
    if (why)
      then(failure(*why));
    else
      then(over);
  });
}

} // namespace perigee::transport::streams
