#include "apps/perigee/replay/goodput.hpp"

#include <charconv>
#include <cmath>

namespace perigee::app {
namespace {

using std::chrono::nanoseconds;
using limit = std::optional<nanoseconds>;

constexpr double limit_ms_max = 1e9;

auto complain(std::string_view item) {
  return failure("'" + std::string{item.substr(0, 64)}
                 + "' is no limit: expected ttft, tpot or e2el, a colon, and "
                   "milliseconds, each once, as in ttft:2000,tpot:25");
}

limit* find(goodput_limits& in, std::string_view name) {
  if (name == "ttft")
    return &in.ttft;
  if (name == "tpot")
    return &in.tpot;
  return name == "e2el" ? &in.e2el : nullptr;
}

limit to_limit(std::string_view text) {
  double ms = 0;
  auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), ms);
  bool is_number = wrong == std::errc{} && end == text.data() + text.size();
  if (!is_number || !(ms > 0 && ms <= limit_ms_max))
    return std::nullopt;
  return nanoseconds{std::llround(ms * 1e6)};
}

bool keeps(nanoseconds span, const limit& most) {
  return !most || span <= *most;
}

} // namespace

result<goodput_limits, std::string> read_goodput(std::string_view text) {
  goodput_limits all;
  for (;;) {
    auto item = text.substr(0, text.find(','));
    auto colon = item.find(':');
    if (colon == std::string_view::npos)
      return complain(item);
    auto* which = find(all, item.substr(0, colon));
    auto value = to_limit(item.substr(colon + 1));
    if (!which || *which || !value)
      return complain(item);
    *which = value;
    if (item.size() == text.size())
      return all;
    text.remove_prefix(item.size() + 1);
  }
}

bool is_good(const outcome& one, const goodput_limits& limits) {
  return one.how == outcome::ending::served && keeps(one.ttft(), limits.ttft)
         && keeps(one.tpot(), limits.tpot) && keeps(one.e2el(), limits.e2el);
}

} // namespace perigee::app
