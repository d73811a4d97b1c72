#include "actors/cluster/cluster_state.hpp"

#include <spdlog/logger.h>

namespace perigee::cluster {
namespace {

constexpr std::chrono::milliseconds look_every{50};

} // namespace

/// Others place nothing here from now on; what is here comes to its end.
void cluster_state::part() {
  parting_ = true;
  neighbours_->part();
  bool is_free = timers_.put(drain_is_over, desk_.now() + how_.drain_limit, {});
  PERIGEE_ASSERT(is_free, "there is room for this one");
  look_whether_idle_later();
}

void cluster_state::look_whether_idle_later() {
  bool is_free = timers_.put(look_whether_idle, desk_.now() + look_every, {});
  PERIGEE_ASSERT(is_free, "there is room for this one");
}

void cluster_state::end_if_idle() {
  if (how_.is_idle && !how_.is_idle())
    idle_since_.reset();
  else if (!idle_since_)
    idle_since_ = desk_.now();
  if (!idle_since_ || desk_.now() - *idle_since_ < how_.idle_for)
    return look_whether_idle_later();
  log_->info("drained");
  timers_.take(drain_is_over);
  end_all();
}

void cluster_state::on_parting(const Msg<schema::Parting>& said) {
  if (!neighbours_ || ending_)
    return;
  neighbours_->on_parting(said);
  count();
}

} // namespace perigee::cluster
