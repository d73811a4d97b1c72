#include "workload/cut.hpp"

#include "schemas/assert.hpp"

#include <cmath>
#include <utility>

namespace perigee::workload {

cut_source::cut_source(request_source& all, cut how, std::string file)
  : all_{all}, how_{how}, file_{std::move(file)} {
  PERIGEE_ASSERT(how.speed >= speed_min && how.speed <= speed_max,
                 "who takes the speed from a user checks it");
}

std::chrono::nanoseconds cut_source::sped_up(std::chrono::nanoseconds span) const {
  if (how_.speed == 1.0)
    return span; // to the nanosecond
  return std::chrono::nanoseconds{
    std::llround(static_cast<double>(span.count()) / how_.speed)};
}

next_request cut_source::end() {
  if (given_ > 0 || std::exchange(is_over_, true))
    return std::optional<request>{};
  auto seconds = [](std::chrono::nanoseconds moment) {
    return std::to_string(
      std::chrono::duration_cast<std::chrono::seconds>(moment).count());
  };
  auto part = "from second " + seconds(how_.from);
  if (how_.to)
    part += " to " + seconds(*how_.to);
  return failure(
    complaint{cause::empty, file_, 0, "", "no request " + part,
              "one at least; all before it is until second " + seconds(latest_)});
}

next_request cut_source::next() {
  if (is_over_ || (how_.first && given_ >= *how_.first))
    return end();
  for (;;) {
    auto got = all_.next();
    if (!got) {
      is_over_ = true;
      return got;
    }
    if (!*got)
      return end();
    auto& one = **got;
    if (one.arrival < how_.from) {
      latest_ = one.arrival;
      continue;
    }
    if (how_.to && one.arrival >= *how_.to)
      return end(); // in order: nothing earlier follows
    ++given_;
    one.arrival = sped_up(one.arrival - how_.from);
    if (one.think)
      one.think = sped_up(*one.think);
    return got;
  }
}

} // namespace perigee::workload
