#include "actors/conductor/conductor.hpp"

namespace perigee::conductor {
namespace {

std::string text(const char* key, double value) {
  char digits[32]; // to_string(double) keeps six decimals of any number
  std::snprintf(digits, sizeof digits, "%.17g", value);
  return std::string{' '} + key + '=' + digits;
}

template <class Rep, class Period>
std::string text(const char* key, std::chrono::duration<Rep, Period> value) {
  return std::string{' '} + key + '=' + std::to_string(nanoseconds{value}.count());
}

} // namespace

std::string to_string(const options& how) {
  return "placement=" + how.placement
         + text("kvcache_balancing_threshold", how.kvcache_balancing_threshold)
         + text("coupled", how.coupled) + text("wants_ttft", how.wanted.ttft)
         + text("wants_tbt", static_cast<int>(how.wanted.tbt))
         + text("load_max", how.wanted.load_max) + text("ttft_limit_ns", how.ttft_limit)
         + text("tbt_limit_ns", how.tbt_limit) + ' ' + to_string(how.cost)
         + " keys_max=" + std::to_string(how.keys_max)
         + " requests_max=" + std::to_string(how.book.requests_max)
         + text("decode_time_at_first_ns", how.book.decode_time_at_first)
         + text("decode_time_weight", how.book.decode_time_weight)
         + text("handoff_limit_ns", how.book.handoff_limit)
         + text("grace_ns", how.grace) + text("publish_every_ns", how.publish_every)
         + text("recount_limit_ns", how.recount_limit);
}

} // namespace perigee::conductor
