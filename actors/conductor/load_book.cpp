#include "actors/conductor/load_book.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <cmath>

namespace perigee::conductor {

load_book::load_book(options how) : how_(how) {
  loads_.decode_time = how.decode_time_at_first;
}

// -- who is there -------------------------------------------------------------

void load_book::seat(const group_id& who, moment now) {
  lose(who, now);
  loads_.prefills[who];
  groups_[who].token_ns = how_.prefill_token_ns;
}

void load_book::seat(const instance_id& who, moment now) {
  lose(who, now);
  loads_.decodes[who];
  instances_[who];
}

std::size_t load_book::lose(const group_id& who, moment now) {
  if (loads_.prefills.erase(who) == 0)
    return 0;
  groups_.erase(who);
  return remove_all(
    [&](const entry& one) {
      return one.what.prefill == who && one.at == stage::prefill;
    },
    now);
}

std::size_t load_book::lose(const instance_id& who, moment now) {
  if (loads_.decodes.erase(who) == 0)
    return 0;
  instances_.erase(who);
  return remove_all([&](const entry& one) { return one.what.decode == who; }, now);
}

// -- requests -----------------------------------------------------------------

bool load_book::place(const placement& one, moment now) {
  auto group = loads_.prefills.find(one.prefill);
  auto instance = loads_.decodes.find(one.decode);
  if (group == loads_.prefills.end() || instance == loads_.decodes.end()
      || entries_.size() >= how_.requests_max)
    return false;
  auto [at, is_new] = entries_.try_emplace(one.request);
  if (!is_new)
    return false;
  auto& mine = at->second;
  mine.what = one;
  mine.order = ++order_;
  expire_at(mine, one.expires_at);
  auto& side = groups_[one.prefill];
  side.queue.emplace(mine.order, one.request);
  if (one.uncached_tokens > 0)
    side.token_ns = static_cast<double>(one.prefill_time.count()) / one.uncached_tokens;
  ++group->second.waiting;
  group->second.free_at = std::max(now, group->second.free_at) + one.prefill_time;
  if (one.decodes) {
    arrival then{one.arrives_at, one.request, one.prompt_tokens};
    auto& line = instance->second.coming;
    line.insert(std::upper_bound(line.begin(), line.end(), then), then);
  }
  return true;
}

bool load_book::end(request_id request, moment now) {
  auto at = entries_.find(request);
  if (at == entries_.end())
    return false;
  remove(at, now);
  return true;
}

std::optional<moment> load_book::next_expiry() const {
  if (expiries_.empty())
    return std::nullopt;
  return expiries_.begin()->first;
}

std::size_t load_book::expire(moment now) {
  std::size_t expired = 0;
  for (; !expiries_.empty() && expiries_.begin()->first <= now; ++expired)
    end(expiries_.begin()->second, now);
  return expired;
}

void load_book::expire_at(entry& one, moment when) {
  expiries_.erase({one.expires_at, one.what.request});
  one.expires_at = when;
  expiries_.emplace(when, one.what.request);
}

void load_book::remove(entries::iterator at, moment now) {
  leave_group(at->second, now);
  leave_instance(at->second);
  expiries_.erase({at->second.expires_at, at->first});
  entries_.erase(at);
}

template <class Doomed>
std::size_t load_book::remove_all(Doomed doomed, moment now) {
  std::vector<request_id> lost;
  for (const auto& [request, one] : entries_)
    if (doomed(one))
      lost.push_back(request);
  std::sort(lost.begin(), lost.end()); // the table's order is nobody's
  for (auto request : lost)
    remove(entries_.find(request), now);
  return lost.size();
}

/// The work ahead of newcomers is less by what was still to be done of this one.
void load_book::leave_group(entry& one, moment now) {
  auto group = loads_.prefills.find(one.what.prefill);
  if (one.at != stage::prefill || group == loads_.prefills.end())
    return;
  auto& side = groups_[one.what.prefill];
  side.queue.erase(one.order);
  --group->second.waiting;
  if (side.queue.empty())
    group->second.free_at = {};
  else
    group->second.free_at -= std::min(one.what.prefill_time, group->second.queued(now));
}

void load_book::leave_instance(const entry& one) {
  auto instance = loads_.decodes.find(one.what.decode);
  if (instance == loads_.decodes.end())
    return;
  auto& line = instance->second;
  if (one.at != stage::decode) {
    std::erase(line.coming,
               arrival{one.what.arrives_at, one.what.request, one.what.prompt_tokens});
    return;
  }
  instances_[one.what.decode].decoding.erase({one.began, one.what.request});
  auto began = std::lower_bound(line.began.begin(), line.began.end(), one.began);
  PERIGEE_ASSERT(began != line.began.end() && *began == one.began,
                 "what decodes is in its line");
  line.kv_tokens -= line.kv_tokens / line.began.size();
  line.began.erase(began);
}

// -- reports ------------------------------------------------------------------

void load_book::hear(const group_id& who, const prefill_report& said, moment now) {
  if (!loads_.prefills.contains(who))
    return;
  for (auto request : said.ended) {
    auto at = entries_.find(request);
    if (at == entries_.end() || at->second.at != stage::prefill
        || at->second.what.prefill != who)
      continue;
    if (at->second.what.decodes)
      await_handoff(at->second, now);
    else
      remove(at, now);
  }
  correct(who, said, now);
}

/// The instance must speak of it soon, unless the request ended in the group.
void load_book::await_handoff(entry& one, moment now) {
  leave_group(one, now);
  leave_instance(one);
  one.at = stage::handoff;
  one.what.arrives_at = now;
  auto& line = loads_.decodes.at(one.what.decode).coming;
  arrival soon{now, one.what.request, one.what.prompt_tokens};
  line.insert(std::upper_bound(line.begin(), line.end(), soon), soon);
  expire_at(one, std::min(one.what.expires_at, now + how_.handoff_limit));
}

/// A group counts the tokens that it has still to compute; what they take, we predicted
/// when we placed them. It may not know yet of what was placed last.
void load_book::correct(const group_id& who, const prefill_report& said, moment now) {
  const auto& side = groups_[who];
  double known_ns = 0, known_tokens = 0, unheard_ns = 0;
  std::uint32_t place_in_queue = 0;
  for (const auto& [order, request] : side.queue) {
    const auto& what = entries_.at(request).what;
    bool is_known = place_in_queue++ < said.requests;
    (is_known ? known_ns : unheard_ns)
      += static_cast<double>(what.prefill_time.count());
    known_tokens += is_known ? what.uncached_tokens : 0;
  }
  auto token_ns = known_tokens > 0 ? known_ns / known_tokens : side.token_ns;
  auto ahead = token_ns * static_cast<double>(said.queued_tokens) + unheard_ns;
  constexpr double longest_ns = 1e17; // three years: whatever a report says, it adds up
  loads_.prefills.at(who).free_at
    = now + nanoseconds{std::llround(std::min(ahead, longest_ns))};
}

void load_book::hear(const instance_id& who, const decode_report& said, moment now) {
  auto instance = loads_.decodes.find(who);
  if (instance == loads_.decodes.end())
    return;
  auto ours = [&](request_id request) {
    auto at = entries_.find(request);
    return at != entries_.end() && at->second.what.decode == who ? at : entries_.end();
  };
  for (auto request : said.began)
    if (auto at = ours(request); at != entries_.end() && at->second.at != stage::decode)
      begin(at->second, now);
  for (const auto& one : said.ended) {
    if (one.decoded > nanoseconds{})
      observe(one.decoded);
    if (auto at = ours(one.request); at != entries_.end())
      remove(at, now);
  }
  count(who, said.sequences, now);
  instance->second.kv_tokens = said.kv_tokens;
  instance->second.blocks_free = said.blocks_free;
}

void load_book::begin(entry& one, moment now) {
  leave_group(one, now);
  leave_instance(one);
  one.at = stage::decode;
  one.began = now;
  instances_[one.what.decode].decoding.emplace(now, one.what.request);
  auto& began = loads_.decodes.at(one.what.decode).began;
  began.insert(std::upper_bound(began.begin(), began.end(), now), now);
  expire_at(one, one.what.expires_at);
}

/// An instance has the last word on how many decode there. Some may be of an earlier
/// conductor.
void load_book::count(const instance_id& who, std::uint32_t sequences, moment now) {
  auto& side = instances_[who];
  auto& strangers = side.strangers;
  auto ours = side.decoding.size();
  auto others = sequences > ours ? sequences - ours : 0;
  if (strangers.size() > others) // the oldest have ended
    strangers.erase(strangers.begin(),
                    strangers.end() - static_cast<std::ptrdiff_t>(others));
  strangers.resize(std::min(others, how_.requests_max), now);
  auto& began = loads_.decodes.at(who).began;
  began = strangers;
  for (const auto& [when, request] : side.decoding)
    began.push_back(when);
  std::inplace_merge(began.begin(),
                     began.begin() + static_cast<std::ptrdiff_t>(strangers.size()),
                     began.end());
}

/// The first ones count for as much as there are of them.
void load_book::observe(nanoseconds decoded) {
  auto weight
    = std::max(how_.decode_time_weight, 1.0 / static_cast<double>(++ended_total_));
  auto change = weight * static_cast<double>((decoded - loads_.decode_time).count());
  loads_.decode_time += nanoseconds{std::llround(change)};
}

} // namespace perigee::conductor
