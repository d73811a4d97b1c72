#include "transport/modelled/flow_table.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace perigee::transport {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// How long `bytes` take at this rate.
std::chrono::nanoseconds time_for(double bytes, double bytes_per_ns) {
  constexpr double longest = 4e18; // what a count of nanoseconds can hold, and some
  double span = bytes <= 0 ? 0 : std::ceil(bytes / bytes_per_ns);
  return std::chrono::nanoseconds{static_cast<std::int64_t>(std::min(span, longest))};
}

} // namespace

flow_table::flow_table(std::vector<double> bytes_per_second) {
  links_.reserve(bytes_per_second.size());
  for (auto capacity : bytes_per_second) {
    PERIGEE_ASSERT(capacity >= 0, "a link with less than no bandwidth");
    links_.push_back({capacity / 1e9, 0, {}, 0, 0, 0});
  }
}

// -- flows come and go --------------------------------------------------------

void flow_table::begin(flow_id id, std::uint64_t bytes, flow_path path, nanoseconds now,
                       std::uint32_t parts) {
  auto most = most_of(path);
  auto size = static_cast<double>(bytes);
  auto [at, is_new] = flows_.emplace(
    id, flow{id, std::move(path), size, most, -1, now, now, 0, size, parts});
  PERIGEE_ASSERT(is_new, "two flows of one number");
  auto& one = at->second;
  join(one);
  auto all = around(one.path);
  if (one.seen != searches_)
    all.flows.push_back(&one);
  share(all, now);
}

bool flow_table::cancel(flow_id id, nanoseconds now) {
  auto at = flows_.find(id);
  if (at == flows_.end())
    return false;
  end(at, now);
  return true;
}

void flow_table::set_capacity(link_index which, double bytes_per_second,
                              nanoseconds now) {
  auto& changed = links_.at(which);
  auto its = changed.flows;
  flow_path touched{which};
  auto touch = [&](const std::vector<flow*>& flows) {
    for (const auto* one : flows)
      touched.insert(touched.end(), one->path.begin(), one->path.end());
  };
  touch(its);
  auto before = around(touched).flows;
  touch(before);
  for (auto* one : its)
    leave(*one);
  changed.capacity = bytes_per_second / 1e9;
  for (auto* one : its) {
    one->most = most_of(one->path);
    join(*one);
  }
  auto all = around(touched);
  for (const auto& more : {its, before})
    for (auto* one : more)
      if (std::exchange(one->seen, searches_) != searches_)
        all.flows.push_back(one);
  share(all, now);
}

std::optional<std::chrono::nanoseconds> flow_table::next_end() const {
  if (ends_.empty())
    return std::nullopt;
  return ends_.begin()->first;
}

std::vector<flow_table::flow_id> flow_table::take_ended(nanoseconds now) {
  std::vector<flow_id> ended;
  while (!ends_.empty() && ends_.begin()->first <= now) {
    auto [due, id] = *ends_.begin();
    ended.push_back(id);
    auto at = flows_.find(id);
    if (auto& one = at->second; one.parts > 0) {
      end_parts(one, due);
      one.part_ends.resize(one.parts, due);
      one.part_ends.back() = due;
      parts_.emplace(id, std::move(one.part_ends));
    }
    end(at, due); // those that go on had less until then
  }
  return ended;
}

std::vector<flow_table::nanoseconds> flow_table::take_parts(flow_id id) {
  auto found = parts_.extract(id);
  return found ? std::move(found.mapped()) : std::vector<nanoseconds>{};
}

/// Writes down which parts have ended by `now`, at the rate of late.
void flow_table::end_parts(flow& one, nanoseconds now) {
  auto sent = one.bytes - one.bytes_left; // at `since`
  while (one.part_ends.size() < one.parts && one.rate > 0) {
    auto end = one.bytes * static_cast<double>(one.part_ends.size() + 1) / one.parts;
    auto at = one.since + time_for(end - sent, one.rate);
    if (at > now)
      return;
    one.part_ends.push_back(at);
  }
}

void flow_table::end(std::map<flow_id, flow>::iterator at, nanoseconds now) {
  auto& one = at->second;
  auto all = around(one.path); // while it still slows them down
  std::erase(all.flows, &one);
  leave(one);
  if (one.rate >= 0)
    ends_.erase({one.due, one.id});
  flows_.erase(at);
  share(all, now);
}

double flow_table::rate_of(flow_id id) const {
  return flows_.at(id).rate * 1e9;
}

double flow_table::most_of(const flow_path& path) const {
  double most = unlimited;
  for (auto at : path) {
    PERIGEE_ASSERT(at < links_.size(), "a flow over a link that is not there");
    most = std::min(most, links_[at].capacity);
  }
  return most;
}

void flow_table::join(flow& one) {
  for (auto at : one.path) {
    links_[at].wanted += one.most;
    links_[at].flows.push_back(&one);
  }
}

void flow_table::leave(flow& one) {
  for (auto at : one.path) {
    auto& its = links_[at];
    std::erase(its.flows, &one);
    its.wanted = its.flows.empty() ? 0 : its.wanted - one.most; // sums no errors up
  }
}

// -- what each gets -----------------------------------------------------------

/// All flows that one narrow link after another connects with `path`.
flow_table::neighbourhood flow_table::around(const flow_path& path) {
  ++searches_;
  neighbourhood all;
  auto visit = [&](link_index at) {
    auto& one = links_[at];
    if (one.is_narrow() && std::exchange(one.seen, searches_) != searches_)
      all.links.push_back(&one);
  };
  for (auto at : path)
    visit(at);
  for (std::size_t next = 0; next < all.links.size(); ++next)
    for (auto* one : all.links[next]->flows)
      if (std::exchange(one->seen, searches_) != searches_) {
        all.flows.push_back(one);
        for (auto at : one->path)
          visit(at);
      }
  return all;
}

/// Fills links evenly, until each flow has as much as its narrowest link gives it, or as
/// it could have if it were alone.
void flow_table::share(neighbourhood& all, nanoseconds now) {
  std::erase_if(all.links, [](const link* one) { return !one->is_narrow(); });
  for (auto* one : all.links) {
    one->left = one->capacity;
    one->unrated = one->flows.size();
  }
  auto mark = ++searches_; // of flows that have their rate
  auto settle = [&](flow& one, double rate_now) {
    one.seen = mark;
    for (auto at : one.path) {
      links_[at].left -= rate_now;
      --links_[at].unrated;
    }
    rate(one, rate_now, now);
  };
  std::ranges::sort(all.flows, {}, [](const flow* one) {
    return std::pair{one->most, one->id};
  });
  auto next = all.flows.begin();
  for (;;) {
    link* tight = nullptr;
    double share = unlimited;
    std::erase_if(all.links, [](const link* one) { return one->unrated == 0; });
    for (auto* one : all.links)
      if (auto its = std::max(one->left, 0.0) / static_cast<double>(one->unrated);
          its < share) {
        share = its;
        tight = one;
      }
    while (next != all.flows.end() && (*next)->seen == mark)
      ++next;
    if (next == all.flows.end())
      return;
    if (!tight || (*next)->most <= share)
      settle(**next, (*next)->most);
    else
      for (auto* one : tight->flows)
        if (one->seen != mark)
          settle(*one, share);
  }
}

void flow_table::rate(flow& one, double rate, nanoseconds now) {
  if (one.rate == rate)
    return;
  if (one.rate >= 0) {
    if (one.parts > 0)
      end_parts(one, now);
    auto span = static_cast<double>((now - one.since).count());
    if (span > 0)
      one.bytes_left = std::max(0.0, one.bytes_left - span * one.rate);
    ends_.erase({one.due, one.id});
  }
  one.rate = rate;
  one.since = now;
  if (one.bytes_left > 0 && rate <= 0) {
    one.due = nanoseconds::max(); // unless something changes
    return;
  }
  one.due = now + time_for(one.bytes_left, rate);
  ends_.emplace(one.due, one.id);
}

} // namespace perigee::transport
