#include "actors/engine_host/engine_host.hpp"

#include "actors/asker.hpp"
#include "actors/engine_host/threaded_driver.hpp"
#include "actors/engine_host/timed_driver.hpp"
#include "actors/runtime/desk.hpp"

#include <spdlog/logger.h>

#include <deque>

namespace perigee::engine_host {
namespace {

/// Its owner hears of a hung engine before the host ends, and tells its clients.
constexpr std::chrono::nanoseconds farewell = std::chrono::milliseconds{100};

class engine_host_state {
public:
  using handle = engine_actor;
  static constexpr const char* name = "engine";

  engine_host_state(handle::pointer self, const rt::world& in,
                    std::shared_ptr<engine::engine> runs,
                    std::shared_ptr<transport::gate_board> gates, options how,
                    std::shared_ptr<probe> counts)
    : self_(self), desk_(self, in, name), log_(in.log->clone(name)),
      probe_(std::move(counts)) {
    probe_->began();
    drive_train with{std::move(runs),
                     std::move(gates),
                     log_,
                     how.gate_limit,
                     how.run_limit,
                     how.sequences_max,
                     pace{std::move(how.slow_spells)}};
    if (how.how == driving::threaded)
      driver_
        = std::make_unique<threaded_driver>(in, handle{self}, desk_, std::move(with));
    else
      driver_
        = std::make_unique<timed_driver>(in, handle{self}, desk_, std::move(with));
  }

  ~engine_host_state() {
    probe_->ended(desk_.now());
  }

  handle::behavior_type make_behavior() {
    return {
      desk_.on(this, &engine_host_state::on_forward),
      desk_.on(this, &engine_host_state::on_interrupt),
      desk_.on(this, &engine_host_state::on_ran),
    };
  }

private:
  void on_forward(const Msg<schema::Forward>& wish) {
    if (!is_current(wish))
      return probe_->dropped_stale();
    if (is_given_up_)
      return; // its owner ends with us, and its requests are placed elsewhere
    if (open_.size() >= 2)
      return refuse(wish);
    probe_->asked(*wish);
    open_.push_back(wish);
    if (open_.size() == 1)
      probe_->running_since(desk_.now());
    driver_->submit(wish);
  }

  void refuse(const Msg<schema::Forward>& wish) {
    log_->error("too_many_forwards owner={} ticket={}",
                wish->getOwner().getWho().getIndex(), wish->getTicket());
    probe_->refused();
    fail(wish, schema::EngineFault::BUSY);
  }

  void fail(const Msg<schema::Forward>& wish, schema::EngineFault why) {
    answer(wish, [&](schema::Forwarded::Builder said) {
      auto result = said.initResult();
      result.setTicket(wish->getTicket());
      result.setFault(why);
    });
  }

  /// Whether the owner that `wish` names is who sent it.
  bool is_current(const Msg<schema::Forward>& wish) {
    bool current = false;
    with_engine_owner(wish->getOwner(),
                      [&](auto owner) { current = desk_.is_from(owner, wish); });
    return current;
  }

  void on_interrupt(const Msg<schema::Interrupt>& wish) {
    for (const auto& one : open_)
      if (one->getTicket() == wish->getTicket()
          && one->getHeader().getSender() == wish->getHeader().getSender())
        return driver_->interrupt(wish->getTicket());
    // Else the run has ended meanwhile, which is what was wanted.
  }

  void on_ran(const Msg<schema::Ran>& ran) {
    if (is_given_up_)
      return self_->quit();
    if (!driver_->took(ran)) {
      if (driver_->is_silent())
        give_up();
      return;
    }
    PERIGEE_ASSERT(!open_.empty(), "a run that nobody asked for");
    auto wish = std::move(open_.front());
    open_.pop_front();
    probe_->answered(ran->getResult());
    if (open_.empty())
      probe_->idle();
    else
      probe_->running_since(desk_.now());
    answer(wish,
           [&](schema::Forwarded::Builder said) { said.setResult(ran->getResult()); });
  }

  /// Owner and host are one unit: who watches over it starts both again, with another
  /// engine and another arena, as this one may be written to still.
  void give_up() {
    log_->warn("engine_silent ticket={} open={}", open_.front()->getTicket(),
               open_.size());
    probe_->gave_up();
    for (const auto& wish : std::exchange(open_, {}))
      fail(wish, schema::EngineFault::DEVICE);
    is_given_up_ = true;
    desk_.tell_after<schema::Ran>(handle{self_}, farewell, rt::unprompted, [](auto) {});
  }

  /// An owner that is gone needs no answer.
  template <class Fill>
  void answer(const Msg<schema::Forward>& wish, Fill fill) {
    with_engine_owner(wish->getOwner(), [&](auto owner) {
      desk_.tell<schema::Forwarded>(owner, wish, fill);
    });
  }

  handle::pointer self_;
  rt::desk<handle> desk_;
  std::shared_ptr<spdlog::logger> log_;
  std::shared_ptr<probe> probe_;
  std::deque<Msg<schema::Forward>> open_; // oldest first; the driver has them
  bool is_given_up_ = false;
  std::unique_ptr<driver> driver_; // last: it may use the desk
};

} // namespace

std::string to_string(const options& how) {
  return std::string{"how="} + (how.how == driving::timed ? "timed" : "threaded")
         + " gate_limit_ms=" + std::to_string(how.gate_limit.count())
         + " run_limit_ms=" + std::to_string(how.run_limit.count())
         + " sequences_max=" + std::to_string(how.sequences_max)
         + " slow_spells=" + std::to_string(how.slow_spells.size());
}

engine_actor start(const rt::world& in, rt::place where,
                   std::shared_ptr<engine::engine> runs,
                   std::shared_ptr<transport::gate_board> gates, options how,
                   std::shared_ptr<probe> counts) {
  auto as_text = rt::arguments{to_string(how)};
  return rt::spawn<engine_host_state>(in, where, std::move(as_text), std::move(runs),
                                      std::move(gates), std::move(how),
                                      std::move(counts));
}

} // namespace perigee::engine_host
