#include "tests/lab/fleet.hpp"

#include "actors/cluster/introductions.hpp"
#include "tests/lab/every_message.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace perigee::test {

using namespace std::chrono_literals;

namespace {

std::unique_ptr<rt::system_config> config_of_nodes() {
  auto config = std::make_unique<rt::system_config>();
  rt::stop_time(*config);
  rt::learn_messages<caf::id_block::perigee, caf::id_block::perigee_nodes>(*config);
  return config;
}

} // namespace

// -- the fleet ----------------------------------------------------------------

fleet::nanoseconds fleet::between(nanoseconds least, nanoseconds most) {
  auto span = static_cast<std::uint64_t>((most - least).count());
  return least + nanoseconds{roll_.below(span + 1)};
}

bool fleet::step() {
  std::vector<process*> ready;
  for (auto* one : all_)
    if (!one->is_stopped() && one->has_mail())
      ready.push_back(one);
  return !ready.empty() && ready[roll_.below(ready.size())]->time_.step();
}

bool fleet::wait_for_next(nanoseconds limit) {
  auto next = alarms_.empty() ? nanoseconds::max() : alarms_.begin()->first;
  for (auto* one : all_)
    if (!one->is_stopped())
      next = std::min(next, one->next_due());
  if (next > limit)
    return false;
  set_clocks(std::max(now_, next)); // who was stopped may be late
  for (auto* one : all_)
    while (!one->is_stopped() && one->time_.wait_for_next(now_)) {
    }
  while (!alarms_.empty() && alarms_.begin()->first <= now_) {
    auto what = alarms_.extract(alarms_.begin());
    what.mapped()();
  }
  return true;
}

void fleet::set_clocks(nanoseconds to) {
  now_ = to;
  for (auto* one : all_)
    if (!one->is_stopped())
      one->set_clock(to);
}

void fleet::listen_to_complaints() const {
  if (!record_.complaints.empty())
    throw std::runtime_error(record_.complaints.front());
}

// -- a process ----------------------------------------------------------------

process::process(fleet& all, std::uint64_t seed)
  : all_(all), config_(config_of_nodes()), system_(*config_), time_(system_, seed),
    scheduler_(dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())) {
  set_clock(all_.now());
  all_.all_.push_back(this);
}

process::~process() {
  std::erase(all_.all_, this);
  if (auto left = system_.registry().running(); left > 0) {
    std::fprintf(stderr, "fleet: %zu actors outlive their process\n", left);
    std::abort(); // rather than wait for them for ever
  }
}

void process::stop() {
  stopped_at_ = all_.now();
  is_stopped_ = true;
}

void process::wake() {
  is_stopped_ = false;
  set_clock(all_.now());
  if (!held_.empty())
    hear_next();
}

void process::hear(std::function<void()> what) {
  if (!is_stopped_ && held_.empty())
    return what();
  held_.push_back(std::move(what));
}

void process::hear_after(nanoseconds span, std::function<void()> what) {
  all_.after(span, [weak = weak_from_this(), what = std::move(what)] {
    if (auto here = weak.lock())
      here->hear(what);
  });
}

/// Not at once: before it has heard all, who has woken knows no better.
void process::hear_next() {
  all_.after(all_.between(0us, 400us), [weak = weak_from_this()] {
    auto here = weak.lock();
    if (!here || here->is_stopped_ || here->held_.empty())
      return;
    auto what = std::move(here->held_.front());
    here->held_.pop_front();
    what();
    if (!here->held_.empty())
      here->hear_next();
  });
}

process::nanoseconds process::next_due() {
  auto& due = scheduler_.clock().schedule();
  return due.empty() ? nanoseconds::max() : due.begin()->first.time_since_epoch();
}

bool process::has_mail() {
  return scheduler_.has_job();
}

void process::set_clock(nanoseconds to) {
  scheduler_.clock().current_time = caf::actor_clock::time_point{to};
}

} // namespace perigee::test
