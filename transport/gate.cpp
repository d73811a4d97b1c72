#include "transport/gate.hpp"

namespace perigee::transport {

void gate::open_to(std::uint32_t level) {
  {
    std::lock_guard held{mutex_};
    if (now_.failed || level <= now_.level)
      return;
    now_.level = level;
  }
  tell_all();
}

void gate::fail() {
  {
    std::lock_guard held{mutex_};
    if (now_.failed)
      return;
    now_.failed = true;
  }
  tell_all();
}

gate::reading gate::read() const {
  std::lock_guard held{mutex_};
  return now_;
}

void gate::date(std::vector<std::chrono::nanoseconds> opened) {
  std::lock_guard held{mutex_};
  dates_ = std::move(opened);
}

std::optional<std::chrono::nanoseconds> gate::opened_at(std::uint32_t layer) const {
  std::lock_guard held{mutex_};
  if (layer >= dates_.size())
    return std::nullopt;
  return dates_[layer];
}

result<void, gate_fault> gate::wait(std::uint32_t layer,
                                    std::chrono::nanoseconds limit) {
  std::unique_lock held{mutex_};
  auto decided = [&] { return now_.level > layer || now_.failed; };
  if (!changed_.wait_for(held, limit, decided))
    return failure(gate_fault::timed_out);
  if (now_.level <= layer)
    return failure(gate_fault::starved);
  return {};
}

std::uint64_t gate::watch(watcher told) {
  std::lock_guard held{mutex_};
  auto number = ++watches_total_;
  watchers_.push_back(
    std::make_shared<const watching>(watching{number, std::move(told)}));
  return number;
}

void gate::unwatch(std::uint64_t watch) {
  std::lock_guard held{mutex_};
  std::erase_if(watchers_, [=](const auto& one) { return one->number == watch; });
}

void gate::tell_all() {
  changed_.notify_all();
  std::vector<std::shared_ptr<const watching>> told;
  {
    std::lock_guard held{mutex_};
    told = watchers_; // a watcher may watch, or cease to
  }
  for (const auto& one : told)
    one->told();
}

} // namespace perigee::transport
