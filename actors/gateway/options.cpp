#include "actors/gateway/gateway.hpp"

namespace perigee::gateway {

std::string to_string(const options& how) {
  auto text = [](const char* key, auto value) {
    return std::string{key} + '=' + std::to_string(value);
  };
  return text("control", static_cast<std::uint32_t>(how.control))
         + text(" requests_max", how.requests_max)
         + text(" prompt_tokens_max", how.prompt_tokens_max)
         + text(" request_limit_ms", how.request_limit.count())
         + text(" grace_ms", how.grace.count())
         + text(" submit_limit_ms", how.submit_limit.count())
         + text(" cancel_limit_ms", how.cancel_limit.count())
         + text(" attempts_max", how.attempts_max)
         + text(" news_limit_ms", how.news_limit.count());
}

} // namespace perigee::gateway
