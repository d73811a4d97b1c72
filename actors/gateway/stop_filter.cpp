#include "actors/gateway/stop_filter.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace perigee::gateway {

stop_filter::stop_filter(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (const auto& stop : stops_)
    PERIGEE_ASSERT(!stop.empty(), "an empty string ends every text");
}

std::string stop_filter::push(std::string_view text) {
  if (stopped_)
    return {};
  held_ += text;
  struct match {
    std::size_t end;
    std::size_t begin;
    auto operator<=>(const match&) const = default;
  };
  std::optional<match> first;
  for (const auto& stop : stops_)
    if (auto at = held_.find(stop); at != std::string::npos)
      first = first ? std::min(*first, match{at + stop.size(), at})
                    : match{at + stop.size(), at};
  stopped_ = first.has_value();
  auto free = first ? first->begin : held_.size() - held_back();
  auto out = held_.substr(0, free);
  held_.erase(0, stopped_ ? held_.size() : free);
  return out;
}

std::string stop_filter::flush() {
  return std::exchange(held_, {});
}

std::size_t stop_filter::held_back() const {
  std::size_t longest = 0;
  for (const auto& stop : stops_)
    for (auto size = std::min(stop.size() - 1, held_.size()); size > longest; --size)
      if (held_.ends_with(std::string_view{stop}.substr(0, size)))
        longest = size;
  return longest;
}

} // namespace perigee::gateway
