#include "workload/like_generator.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace perigee::workload {
namespace {

using std::chrono::nanoseconds;

/// How many neighbours in length are looked at for one of the right age.
constexpr int neighbours = 12;
/// No one types faster.
constexpr std::chrono::seconds gap_min{6};
/// Prompts are forgotten after so many median gaps.
constexpr int gaps_remembered = 12;

std::uint64_t distance(std::uint64_t one, std::uint64_t other) {
  return one > other ? one - other : other - one;
}

} // namespace

like_generator::like_generator(const likeness& kind, std::uint64_t seed,
                               std::optional<double> rate)
  : kind_{kind}, seconds_between_{1 / rate.value_or(kind.rate)}, dice_{seed} {
  for (const auto& start : kind.starts)
    starts_.push_back(numbers_.chain({}, 0, start.tokens));
  starts_.emplace_back();
  shelves_.resize(starts_.size());
}

std::size_t like_generator::start_of(std::uint64_t tokens) {
  for (std::size_t i = 0; i < kind_.starts.size(); ++i)
    if (tokens >= kind_.starts[i].tokens && dice_.happens(kind_.starts[i].probability))
      return i;
  return kind_.starts.size();
}

like_generator::shelf::iterator like_generator::find_followed(shelf& from,
                                                              std::uint64_t tokens) {
  auto gap = natural_exp(dice_.normal() * kind_.follows.gap_sigma)
             * static_cast<double>(kind_.follows.gap_median.count());
  auto near = from.lower_bound({tokens, 0});
  auto first = near;
  for (int i = 0; i < neighbours && first != from.begin(); ++i)
    --first;
  auto best = from.end();
  double best_misfit = std::numeric_limits<double>::infinity();
  int beyond = 0;
  for (auto one = first; one != from.end() && beyond < neighbours; ++one) {
    beyond += one->first.first >= tokens ? 1 : 0;
    auto age = now_ - one->second.arrival;
    if (age < gap_min)
      continue;
    // A block's length aside costs as much as a gap that is twice as long.
    double seconds = std::chrono::duration<double>(age).count();
    double misfit
      = std::abs(natural_log(seconds / gap)) / natural_log(2)
        + static_cast<double>(distance(one->first.first, tokens)) / block_tokens;
    if (misfit < best_misfit) {
      best_misfit = misfit;
      best = one;
    }
  }
  return best;
}

void like_generator::remember(std::size_t start, std::uint64_t tokens, prompt one) {
  prompt_name name{tokens, prompts_++};
  shelves_[start].emplace(name, std::move(one));
  oldest_first_.emplace_back(start, name);
}

void like_generator::forget() {
  nanoseconds life = gaps_remembered * kind_.follows.gap_median;
  while (!oldest_first_.empty()) {
    auto [start, name] = oldest_first_.front();
    auto there = shelves_[start].find(name);
    bool is_there = there != shelves_[start].end();
    if (is_there && oldest_first_.size() <= remembered_max
        && now_ - there->second.arrival <= life)
      return;
    if (is_there)
      shelves_[start].erase(there);
    oldest_first_.pop_front();
  }
}

std::vector<std::uint64_t> like_generator::blocks_for(std::uint64_t tokens) {
  auto start = start_of(tokens);
  auto& known = shelves_[start];
  std::vector<std::uint64_t> ids;
  bool follows = dice_.happens(
    interpolated(kind_.follows.probability, static_cast<double>(tokens)));
  auto kept = static_cast<std::uint64_t>(kind_.follows.kept.at(dice_.uniform())
                                         * static_cast<double>(tokens));
  auto followed = follows ? find_followed(known, kept) : known.end();
  if (followed == known.end()) {
    ids = numbers_.chain(starts_[start], starts_[start].size() * block_tokens, tokens);
    if (!dice_.happens(kind_.follows.followed_share))
      return ids;
  } else {
    // An earlier prompt that is longer was edited from there on.
    auto shared = std::min(followed->first.first, tokens);
    if (followed->first.first > kept)
      shared = std::max<std::uint64_t>(kept, starts_[start].size() * block_tokens);
    ids = numbers_.chain(followed->second.block_ids, shared, tokens);
    if (++followed->second.followers >= kind_.follows.followers_max)
      known.erase(followed);
    if (kind_.follows.followers_max > 1)
      return ids; // it asks about the same text: who comes next follows that
  }
  remember(start, tokens, {now_, 0, ids});
  return ids;
}

next_request like_generator::next() {
  if (seconds_ > std::chrono::duration<double>(arrival_max).count())
    return std::optional<request>{};
  now_ = nanoseconds{std::llround(seconds_ * 1e3) * 1'000'000};
  if (kind_.tick.count() > 0)
    now_ -= now_ % kind_.tick;
  seconds_ += dice_.exponential(seconds_between_);
  forget();
  request one;
  one.arrival = now_;
  auto input = kind_.input.draw(dice_);
  one.input_tokens
    = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(input, 1, tokens_max));
  one.output_tokens = static_cast<std::uint32_t>(
    std::clamp<std::uint64_t>(kind_.output.draw(dice_), 1, tokens_max));
  one.block_ids = blocks_for(one.input_tokens);
  return std::optional{std::move(one)};
}

} // namespace perigee::workload
