/// \file
/// fleet: several processes in one virtual time.
///
/// Bound to CAF 0.17 as virtual_time.hpp is.
#pragma once

#include "actors/runtime/virtual_time.hpp"
#include "tests/lab/dice.hpp"
#include "tests/lab/transcript.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace perigee::test {

class process;

/// Nothing runs until the test says so. The seed chooses which process is next, and
/// which of its actors.
class fleet {
public:
  using nanoseconds = std::chrono::nanoseconds;

  explicit fleet(std::uint64_t seed) : seed_(seed), roll_(rt::mix(seed)) {}
  fleet(const fleet&) = delete;
  fleet& operator=(const fleet&) = delete;

  nanoseconds now() const {
    return now_;
  }

  std::uint64_t seed() const {
    return seed_;
  }

  /// A number of the seed, below `n`.
  std::uint64_t below(std::uint64_t n) {
    return roll_.below(n);
  }

  /// What all processes write, in the order in which they do.
  transcript& record() {
    return record_;
  }

  /// A span between these, by the seed.
  nanoseconds between(nanoseconds least, nanoseconds most);

  /// Has `what` done when that moment has come, whoever is stopped then.
  void at(nanoseconds due, std::function<void()> what) {
    alarms_.emplace(due, std::move(what));
  }
  void after(nanoseconds span, std::function<void()> what) {
    at(now_ + span, std::move(what));
  }

  /// Called whenever nobody has mail, before time passes.
  void set_idle(std::function<void()> what) {
    idle_ = std::move(what);
  }

  /// Lets `span` pass, and calls `look` before each message is handled.
  template <class Look>
  void advance(nanoseconds span, Look look) {
    const auto until = now_ + span;
    do {
      for (look(); step(); look())
        listen_to_complaints();
      if (idle_)
        idle_();
    } while (wait_for_next(until));
    set_clocks(until);
  }

  void advance(nanoseconds span) {
    advance(span, [] {});
  }

private:
  friend class process;

  bool step();
  bool wait_for_next(nanoseconds limit);
  void set_clocks(nanoseconds to);
  void listen_to_complaints() const;

  const std::uint64_t seed_;
  dice roll_;
  nanoseconds now_{1};
  transcript record_;
  std::multimap<nanoseconds, std::function<void()>> alarms_;
  std::function<void()> idle_;
  std::vector<process*> all_;
};

/// One process: a system of its own, that runs when the fleet's time does.
class process : public std::enable_shared_from_this<process> {
public:
  using nanoseconds = std::chrono::nanoseconds;

  /// Knows the messages of all roles, and those of nodes. `seed`: of its own choices.
  process(fleet& all, std::uint64_t seed);

  /// By now, all of its actors have ended.
  ~process();

  caf::actor_system& system() {
    return system_;
  }

  bool is_stopped() const {
    return is_stopped_;
  }

  /// When it was last.
  nanoseconds stopped_at() const {
    return stopped_at_;
  }

  /// From here on all that ends here does so because the process is killed.
  void kill() {
    is_killed_ = true;
  }
  bool is_killed() const {
    return is_killed_;
  }

  /// As by SIGSTOP: nothing runs here, while time goes on elsewhere.
  void stop();

  /// As by SIGCONT: overdue timers are due, and what came meanwhile is heard, in order,
  /// within some milliseconds.
  void wake();

  /// Does `what` here: now, or when this is awake and has heard all that came before.
  void hear(std::function<void()> what);

  /// The same, some time from now, if this is there then.
  void hear_after(nanoseconds span, std::function<void()> what);

  /// Runs until nobody has mail; time stands still.
  void settle() {
    time_.settle();
  }

private:
  friend class fleet;

  /// When something is due; the end of time if never.
  nanoseconds next_due();
  bool has_mail();
  void set_clock(nanoseconds to);
  void hear_next();

  fleet& all_;
  std::unique_ptr<rt::system_config> config_;
  caf::actor_system system_;
  rt::virtual_time time_;
  caf::scheduler::test_coordinator& scheduler_;
  bool is_killed_ = false;
  bool is_stopped_ = false;
  nanoseconds stopped_at_{};
  std::deque<std::function<void()>> held_;
};

} // namespace perigee::test
