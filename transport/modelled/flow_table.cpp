#include "transport/modelled/flow_table.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <cmath>

namespace perigee::transport {
namespace {

/// When `bytes` have gone at this rate, from now.
std::chrono::nanoseconds time_for(double bytes, double bytes_per_ns) {
  constexpr double longest = 4e18; // what a count of nanoseconds can hold, and some
  double span = bytes <= 0 ? 0 : std::ceil(bytes / bytes_per_ns);
  return std::chrono::nanoseconds{static_cast<std::int64_t>(std::min(span, longest))};
}

} // namespace

flow_table::flow_table(std::vector<double> bytes_per_second)
  : bytes_per_ns_(std::move(bytes_per_second)) {
  for (auto& rate : bytes_per_ns_) {
    PERIGEE_ASSERT(rate > 0, "a link without bandwidth");
    rate /= 1e9;
  }
}

void flow_table::begin(flow_id id, std::uint64_t bytes, flow_path path,
                       nanoseconds now) {
  run_to(now);
  bool is_new
    = flows_.emplace(id, flow{static_cast<double>(bytes), std::move(path)}).second;
  PERIGEE_ASSERT(is_new, "two flows of one number");
  share();
}

bool flow_table::cancel(flow_id id, nanoseconds now) {
  if (!flows_.contains(id))
    return false;
  run_to(now);
  flows_.erase(id);
  share();
  return true;
}

flow_table::flow_map::const_iterator flow_table::next() const {
  return std::ranges::min_element(flows_, {},
                                  [](const auto& entry) { return entry.second.due; });
}

std::optional<std::chrono::nanoseconds> flow_table::next_end() const {
  if (flows_.empty())
    return std::nullopt;
  return next()->second.due;
}

std::vector<flow_table::flow_id> flow_table::take_ended(nanoseconds now) {
  std::vector<flow_id> ended;
  for (auto first = next(); first != flows_.end() && first->second.due <= now;
       first = next()) {
    run_to(first->second.due); // those that go on had less until then
    ended.push_back(first->first);
    flows_.erase(first);
    share();
  }
  return ended;
}

void flow_table::run_to(nanoseconds now) {
  auto span = static_cast<double>((now - now_).count());
  now_ = std::max(now_, now);
  if (span <= 0)
    return;
  for (auto& [id, one] : flows_)
    one.bytes_left = std::max(0.0, one.bytes_left - span * one.bytes_per_ns);
}

void flow_table::share() {
  std::vector<flow_path> paths;
  paths.reserve(flows_.size());
  for (const auto& [id, one] : flows_)
    paths.push_back(one.path);
  auto rates = fair_share(bytes_per_ns_, paths);
  auto rate = rates.begin();
  for (auto& [id, one] : flows_) {
    one.bytes_per_ns = *rate++;
    one.due = now_ + time_for(one.bytes_left, one.bytes_per_ns);
  }
}

} // namespace perigee::transport
