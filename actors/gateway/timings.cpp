#include "actors/gateway/timings.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <numeric>

namespace perigee::gateway {
namespace {

constexpr std::array<std::string_view, stages_count> names{
  "parse",   "tokenize", "admission", "placement",    "queue",  "fetch",  "prefill",
  "handoff", "flush",    "transfer",  "decode_queue", "decode", "transit"};

void append_member(std::string& out, std::string_view name,
                   std::chrono::nanoseconds span) {
  auto count = span.count();
  auto size = count < 0 ? -count : count;
  auto digits = std::to_string(size % 1'000'000);
  out += out.size() > 1 ? ",\"" : "\"";
  out.append(name).append("_ms\":");
  out += count < 0 ? "-" : "";
  out += std::to_string(size / 1'000'000);
  if (size % 1'000'000 != 0) {
    out.append(".").append(6 - digits.size(), '0').append(digits);
    out.erase(out.find_last_not_of('0') + 1);
  }
}

} // namespace

std::string_view name_of(stage which) {
  return names.at(static_cast<std::size_t>(which));
}

std::chrono::nanoseconds timings::total() const {
  return std::accumulate(spans_.begin(), spans_.end(), span{});
}

void timings::set_flush(span time) {
  (*this)[stage::flush] = time;
  for (auto after : {stage::transfer, stage::decode_queue, stage::decode}) {
    auto hidden = std::min(time, (*this)[after]);
    (*this)[after] -= hidden;
    time -= hidden;
  }
}

void timings::close(span all) {
  (*this)[stage::transit] = {};
  (*this)[stage::transit] = all - total();
}

std::string to_json(const timings& times) {
  std::string out = "{";
  for (std::size_t i = 0; i < stages_count; ++i)
    append_member(out, names[i], times[static_cast<stage>(i)]);
  append_member(out, "ttft", times.ttft);
  append_member(out, "total", times.total());
  return out += '}';
}

} // namespace perigee::gateway
