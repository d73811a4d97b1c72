#include "actors/engine_host/gate_ear.hpp"

#include <algorithm>

namespace perigee::engine_host {

void gate_ear::listen(std::vector<transport::gate_ptr> gates, std::uint32_t layers,
                      std::uint64_t number) {
  {
    std::lock_guard held{mutex_};
    opened_.clear();
    layers_ = layers;
    number_ = number;
    told_ = false;
    watches_.clear();
    for (const auto& gate : gates)
      watches_.push_back(gate->watch([self = shared_from_this()] { self->look(); }));
    gates_ = std::move(gates);
  }
  look();
}

void gate_ear::hush() {
  std::lock_guard held{mutex_};
  for (std::size_t i = 0; i < gates_.size(); ++i)
    gates_[i]->unwatch(watches_[i]);
  gates_.clear();
  told_ = true;
}

std::vector<std::chrono::nanoseconds> gate_ear::opened() const {
  std::lock_guard held{mutex_};
  return opened_;
}

void gate_ear::look() {
  std::lock_guard held{mutex_};
  if (told_)
    return;
  std::uint32_t level = layers_;
  bool failed = false;
  for (const auto& gate : gates_) {
    auto now = gate->read();
    level = std::min(level, now.level);
    failed = failed || (now.failed && now.level < layers_);
  }
  while (opened_.size() < level)
    opened_.push_back(opened_at(static_cast<std::uint32_t>(opened_.size())));
  if (level < layers_ && !failed)
    return;
  told_ = true;
  door_.tell<schema::Ran>(host_, rt::unprompted,
                          [&](schema::Ran::Builder ran) { ran.setNumber(number_); });
}

std::chrono::nanoseconds gate_ear::opened_at(std::uint32_t layer) const {
  auto now = door_.now();
  std::chrono::nanoseconds last{};
  for (const auto& gate : gates_)
    last = std::max(last, gate->opened_at(layer).value_or(now));
  return last;
}

} // namespace perigee::engine_host
