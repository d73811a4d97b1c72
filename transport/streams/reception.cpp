#include "transport/streams/reception.hpp"

#include <sys/epoll.h>

namespace perigee::transport::streams {

using namespace std::chrono_literals;

reception::reception(event_loop& loop, std::unique_ptr<port> way,
                     const reception_limits& limits, listeners told)
  : loop_(loop), port_(std::move(way)), limits_(limits), told_(std::move(told)) {
  open();
}

reception::~reception() {
  close();
}

void reception::open() {
  watch_ = loop_.watch(port_->fd(), EPOLLIN, [this](std::uint32_t) { on_knock(); });
}

void reception::close() {
  loop_.unwatch(watch_);
  loop_.cancel(pause_);
  strangers_.clear();
  while (!meetings_.empty())
    erase(meetings_.begin()->first);
}

void reception::expect(peer_id who, const ticket& shown, moment until) {
  auto& one = meetings_[who];
  one.expected = shown;
  one.limit = loop_.at(until, [this, who] { lose(who, loss::unreachable); });
}

void reception::connect(peer_id who, const endpoint& where, const ticket& shown) {
  auto& one = meetings_[who];
  one.missing = limits_.links;
  one.present.resize(limits_.links);
  for (std::uint8_t index = 0; index < limits_.links; ++index) {
    auto over = port_->dial(where);
    if (!over)
      return lose(who, loss::unreachable);
    one.greetings.push_back(std::make_unique<greeting>(
      loop_, std::move(over), hello{shown, index, limits_.links},
      limits_.greeting_limit, [this, who, index](auto came) {
        if (came)
          arrived(who, index, std::move(*came));
        else
          lose(who, came.error());
      }));
  }
}

void reception::forget(peer_id who) {
  erase(who);
}

// -- strangers ----------------------------------------------------------------

void reception::on_knock() {
  constexpr int turn = 16; // then it is somebody else's
  for (int i = 0; i < turn; ++i) {
    auto over = port_->accept();
    if (over)
      let_talk(std::move(over));
    else if (i > 0)
      return;
    else
      break;
  }
  // Somebody knocks and cannot be let in: there are no descriptors. Look again later.
  loop_.unwatch(watch_);
  pause_ = loop_.at(after(100ms), [this] { open(); });
}

void reception::let_talk(std::shared_ptr<stream> over) {
  if (strangers_.size() >= limits_.strangers_max) {
    strangers_.erase(strangers_.begin());
    ++strangers_total_;
  }
  auto who = ++strangers_seen_;
  strangers_[who].talk = std::make_unique<greeting>(
    loop_, std::move(over),
    [this, who](const hello& shown) { return admits(who, shown); },
    limits_.greeting_limit, [this, who](const auto& came) { on_talked(who, came); });
}

bool reception::admits(number who, const hello& shown) {
  for (auto& [name, one] : meetings_) {
    if (!one.expected || !(*one.expected == shown.shown))
      continue;
    if (one.promised.empty()) { // the first of them says how many come
      one.promised.resize(shown.count);
      one.present.resize(shown.count);
      one.missing = shown.count;
    }
    if (one.promised.size() != shown.count || one.promised[shown.index])
      return false;
    one.promised[shown.index] = true;
    strangers_.at(who).is = {name, shown.index};
    return true;
  }
  return false;
}

void reception::on_talked(number who,
                          const result<std::shared_ptr<stream>, loss>& came) {
  auto at = strangers_.extract(who);
  if (at.empty())
    return; // cut off meanwhile
  auto is = at.mapped().is;
  if (!is)
    ++strangers_total_;
  else if (came)
    arrived(is->first, is->second, *came);
  else
    lose(is->first, came.error());
}

// -- meetings -----------------------------------------------------------------

void reception::arrived(peer_id who, std::size_t index, std::shared_ptr<stream> over) {
  auto at = meetings_.find(who);
  if (at == meetings_.end())
    return; // called off
  at->second.present[index] = std::move(over);
  if (--at->second.missing > 0)
    return;
  auto all = std::move(at->second.present);
  erase(who);
  told_.on_up(who, std::move(all));
}

void reception::lose(peer_id who, loss why) {
  if (!meetings_.contains(who))
    return;
  erase(who);
  told_.on_loss(who, why);
}

void reception::erase(peer_id who) {
  auto at = meetings_.extract(who);
  if (!at.empty())
    loop_.cancel(at.mapped().limit);
}

} // namespace perigee::transport::streams
