#include "workload/cut.hpp"

#include "schemas/assert.hpp"

#include <cmath>

namespace perigee::workload {

cut_source::cut_source(request_source& all, cut how) : all_{all}, how_{how} {
  PERIGEE_ASSERT(how.speed >= speed_min && how.speed <= speed_max,
                 "who takes the speed from a user checks it");
}

next_request cut_source::next() {
  if (how_.first && given_ >= *how_.first)
    return std::optional<request>{};
  for (;;) {
    auto got = all_.next();
    if (!got || !*got)
      return got;
    auto& one = **got;
    if (one.arrival < how_.from)
      continue;
    if (how_.to && one.arrival >= *how_.to)
      return std::optional<request>{}; // in order: nothing earlier follows
    ++given_;
    one.arrival -= how_.from;
    if (how_.speed != 1.0)
      one.arrival = std::chrono::nanoseconds{
        std::llround(static_cast<double>(one.arrival.count()) / how_.speed)};
    return got;
  }
}

} // namespace perigee::workload
