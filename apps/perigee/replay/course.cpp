#include "apps/perigee/replay/course.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <utility>

namespace perigee::app {

std::uint64_t course::last(std::string_view group, std::string_view name) const {
  for (std::size_t i = 0; i < columns.size() && !rows.empty(); ++i)
    if (columns[i].group == group && columns[i].name == name)
      return rows.back().values[i];
  return 0;
}

bool course::has(std::string_view group) const {
  return std::ranges::any_of(columns,
                             [group](const column& one) { return one.group == group; });
}

std::uint64_t course::last_sum(std::string_view group) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < columns.size() && !rows.empty(); ++i)
    if (columns[i].group == group)
      sum += rows.back().values[i];
  return sum;
}

recorder::recorder(nanoseconds every, std::vector<reading> what)
  : every_(every), what_(std::move(what)) {
  PERIGEE_ASSERT(every > nanoseconds{}, "time between readings");
  for (const auto& one : what_)
    so_far_.columns.push_back({one.group, one.name});
}

void recorder::read() {
  if (so_far_.rows.size() == rows_max)
    thin_out();
  add(next_);
  next_ += every_;
}

course recorder::take(nanoseconds now) {
  if (!so_far_.rows.empty() && so_far_.rows.back().at == now)
    so_far_.rows.pop_back();
  add(now);
  return std::move(so_far_);
}

void recorder::add(nanoseconds at) {
  course::row one{at, {}};
  one.values.reserve(what_.size());
  for (const auto& of : what_)
    one.values.push_back(of.read());
  so_far_.rows.push_back(std::move(one));
}

/// Counts only grow, so what lay between two rows is not lost with the one between.
void recorder::thin_out() {
  auto& rows = so_far_.rows;
  for (std::size_t i = 1; i < rows.size() / 2; ++i)
    rows[i] = std::move(rows[2 * i]);
  rows.resize(rows.size() / 2);
  every_ *= 2;
}

} // namespace perigee::app
