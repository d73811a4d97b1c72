#include "transport/tcp/zero_copy.hpp"

namespace perigee::transport::tcp {

void zero_copy_trial::sent(bool was_kept, std::size_t bytes,
                           std::chrono::nanoseconds took) {
  if (at_ != verdict::trying || bytes == 0)
    return;
  auto& way = was_kept ? kept_ : copied_;
  ++way.sends;
  way.bytes += bytes;
  way.took += took;
  judge();
}

void zero_copy_trial::completed(bool was_copied, std::chrono::nanoseconds took) {
  if (was_copied)
    at_ = verdict::copy;
  kept_.took += took;
  if (at_ == verdict::trying)
    judge();
}

void zero_copy_trial::judge() {
  if (kept_.sends < sends_each_way || copied_.sends < sends_each_way)
    return;
  at_ = kept_.each_byte() < copied_.each_byte() ? verdict::keep : verdict::copy;
}

} // namespace perigee::transport::tcp
