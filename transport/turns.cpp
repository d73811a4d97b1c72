#include "transport/turns.hpp"

#include "schemas/assert.hpp"

namespace perigee::transport {

void turns::set_rates(const rates& most) {
  writing_ = pace{most.written};
  reading_ = pace{most.read};
}

void turns::count(contender& one, bool wants) {
  if (std::exchange(one.is_counted, wants) == wants)
    return;
  for (auto* counts : {&own_, &all_})
    wants ? counts->begin(one.urgency) : counts->end(one.urgency);
}

bool turns::may_go(const contender& one, moment now) {
  if (const auto& most = pace_of(one); !most.is_free(now)) {
    wakes_at_ = wakes_at_ ? std::min(*wakes_at_, most.free_at()) : most.free_at();
    return false;
  }
  return under_way_[static_cast<std::size_t>(one.urgency)] == 0
         || all_.ahead_of(one.urgency) == own_.ahead_of(one.urgency);
}

void turns::went(const contender& one, std::uint64_t bytes, moment now) {
  ++under_way_[static_cast<std::size_t>(one.urgency)];
  (one.is_write ? writing_ : reading_).took(bytes, now);
}

void turns::came_back(priority urgency) {
  auto& pieces = under_way_[static_cast<std::size_t>(urgency)];
  PERIGEE_ASSERT(pieces > 0, "a piece comes back once");
  --pieces;
}

bool turns::take_wake(moment now) {
  if (!wakes_at_ || *wakes_at_ > now)
    return false;
  wakes_at_.reset();
  return true;
}

} // namespace perigee::transport
