#include "actors/conductor/placement_policy.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace perigee::conductor {
namespace {

/// What a group would reuse, and what that takes.
struct reuse {
  std::uint32_t blocks = 0;
  node_index source{};
  nanoseconds fetch{};
};

/// Of a run: its last token is always computed, so not all of a prompt can be reused.
std::uint32_t usable_blocks(const run& held, const wish& one) {
  return std::min(held.blocks, (one.prompt_tokens - 1) / one.block_tokens);
}

nanoseconds time_to_move(const transfer_cost& way, std::uint32_t blocks,
                         const wish& one, const cost_model& cost) {
  return way.time(std::uint64_t{blocks} * one.block_tokens * cost.kv_token_bytes);
}

run local_run(const scene& here, node_index node) {
  auto at = std::lower_bound(
    here.runs.begin(), here.runs.end(), node,
    [](const run& one, node_index wanted) { return one.shard < wanted; });
  bool is_there = at != here.runs.end() && at->shard == node;
  return is_there ? *at : run{node, 0, 0};
}

/// Of those that a group on `node` can fetch.
run longest_run(const scene& here, node_index node) {
  run best;
  for (const auto& one : here.runs)
    if (one.blocks > best.blocks && !here.apart.is_between(one.shard, node))
      best = one;
  return best;
}

/// What the group's own node has, of which only a disk costs time.
reuse reuse_local(const run& local, const wish& one, const cost_model& cost) {
  auto blocks = usable_blocks(local, one);
  auto on_disk = std::min(local.blocks_on_disk, blocks);
  return {blocks, local.shard, time_to_move(cost.disk, on_disk, one, cost)};
}

/// What another node has and this one lacks crosses the network.
reuse reuse_remote(const run& remote, const run& local, const wish& one,
                   const cost_model& cost) {
  auto blocks = usable_blocks(remote, one);
  auto missing = blocks - std::min(blocks, local.blocks);
  auto on_disk = std::min(remote.blocks_on_disk, missing);
  return {blocks, remote.shard,
          time_to_move(cost.link, missing, one, cost)
            + time_to_move(cost.disk, on_disk, one, cost)};
}

/// The part of a plan that is about prefill.
plan plan_at(const group_id& who, const prefill_line& line, const reuse& held,
             const wish& one, const scene& here) {
  plan made;
  made.prefill = who;
  made.reuse_blocks = held.blocks;
  made.source = held.blocks > 0 ? held.source : node_index{};
  made.fetch = held.fetch;
  made.queue = line.queued(here.now);
  made.prefill_time = here.cost.prefill.time(
    one.prompt_tokens, std::uint64_t{held.blocks} * one.block_tokens);
  return made;
}

plan plan_locally(const group_id& who, const prefill_line& line, const wish& one,
                  const scene& here) {
  auto held = reuse_local(local_run(here, who.node), one, here.cost);
  return plan_at(who, line, held, one, here);
}

/// Of the batch that the request would be in, at the moment it arrives.
nanoseconds tbt_of(const decode_line& line, const wish& one, const scene& here,
                   moment arrival) {
  auto then = batch_at(line, here.now, arrival, here.all.decode_time);
  return here.cost.decode.step_time(then.sequences + 1,
                                    then.kv_tokens + one.prompt_tokens);
}

bool has_room(const decode_line& line, const wish& one) {
  if (!line.blocks_free)
    return true; // it has not said
  std::uint64_t tokens = one.prompt_tokens;
  for (const auto& other : line.coming)
    tokens += other.tokens;
  return tokens <= std::uint64_t{*line.blocks_free} * one.block_tokens;
}

void decode_at(plan& made, const instance_id& who, const decode_line& line,
               const wish& one, const scene& here) {
  made.decode = who;
  made.tbt
    = one.decodes ? tbt_of(line, one, here, here.now + made.ttft()) : nanoseconds{};
}

/// Whether what a group on `node` computes can be decoded by `who`.
bool reaches(node_index node, const instance_id& who, const wish& one,
             const scene& here) {
  return !here.apart.is_between(node, who.node)
         && !here.apart.is_between(one.gateway, who.node);
}

/// Whether a group on `node` can serve at all.
bool has_partners(node_index node, const wish& one, const scene& here) {
  if (here.apart.empty())
    return true;
  return !here.apart.is_between(one.gateway, node)
         && std::ranges::any_of(here.all.decodes, [&](const auto& other) {
              return reaches(node, other.first, one, here);
            });
}

/// The paper's load balancing: the instance where a step will be shortest.
void decode_where_fastest(plan& made, const wish& one, const scene& here) {
  std::optional<std::pair<bool, nanoseconds>> best; // full, and slow
  for (const auto& [who, line] : here.all.decodes) {
    if (!reaches(made.prefill.node, who, one, here))
      continue;
    std::pair prospect{!has_room(line, one),
                       tbt_of(line, one, here, here.now + made.ttft())};
    if (best && prospect >= *best)
      continue;
    best = prospect;
    decode_at(made, who, line, one, here);
  }
}

/// A coupled group decodes what it prefills. False if it isn't there as an instance.
bool decode_at_home(plan& made, const wish& one, const scene& here) {
  auto home = here.all.decodes.find({made.prefill.node, made.prefill.index});
  if (home != here.all.decodes.end())
    decode_at(made, home->first, home->second, one, here);
  return home != here.all.decodes.end();
}

/// The element of that number in a map, or the next one that will `do`; the end if none
/// does.
template <class Map, class Do>
auto nth(const Map& all, std::uint64_t n, Do will_do) {
  if (all.empty())
    return all.end();
  auto first = std::next(all.begin(), static_cast<std::ptrdiff_t>(n % all.size()));
  auto found = std::find_if(first, all.end(), will_do);
  if (found != all.end())
    return found;
  found = std::find_if(all.begin(), first, will_do);
  return found == first ? all.end() : found;
}

/// Takes whichever two its numbers say.
template <class Numbers>
class blind_placement final : public placement_policy {
public:
  explicit blind_placement(Numbers numbers) : numbers_(std::move(numbers)) {}

  std::optional<plan> choose(const wish& one, const scene& here) override {
    if (here.all.prefills.empty() || here.all.decodes.empty())
      return std::nullopt;
    auto group
      = nth(here.all.prefills, numbers_.next_group(), [&](const auto& candidate) {
          return has_partners(candidate.first.node, one, here);
        });
    if (group == here.all.prefills.end())
      return std::nullopt;
    auto made = plan_locally(group->first, group->second, one, here);
    if (here.coupled)
      return decode_at_home(made, one, here) ? std::optional{made} : std::nullopt;
    auto instance
      = nth(here.all.decodes, numbers_.next_instance(), [&](const auto& candidate) {
          return reaches(group->first.node, candidate.first, one, here);
        });
    decode_at(made, instance->first, instance->second, one, here);
    return made;
  }

private:
  Numbers numbers_;
};

struct seeded_numbers {
  std::mt19937_64 random;

  std::uint64_t next_group() {
    return random();
  }
  std::uint64_t next_instance() {
    return random();
  }
};

struct turns {
  std::uint64_t groups = 0;
  std::uint64_t instances = 0;

  std::uint64_t next_group() {
    return groups++;
  }
  std::uint64_t next_instance() {
    return instances++;
  }
};

/// Looks at every group, and takes the first of those that `Rating` likes best.
template <class Rating>
class rated_placement final : public placement_policy {
public:
  explicit rated_placement(Rating rating) : rating_(rating) {}

  std::optional<plan> choose(const wish& one, const scene& here) override {
    if (here.all.prefills.empty() || here.all.decodes.empty())
      return std::nullopt;
    auto best_run = longest_run(here, {});
    std::optional<plan> best;
    for (const auto& [who, line] : here.all.prefills) {
      if (!has_partners(who.node, one, here))
        continue;
      if (!here.apart.empty())
        best_run = longest_run(here, who.node);
      auto made = rating_.plan_for(who, line, best_run, one, here);
      if (here.coupled && !decode_at_home(made, one, here))
        continue;
      if (!best || is_better(made, *best))
        best = made;
    }
    if (best && !here.coupled)
      decode_where_fastest(*best, one, here);
    return best;
  }

private:
  /// Those that nobody waits at are all alike, but for what they decode: which is
  /// nothing as long as groups don't.
  bool is_better(const plan& a, const plan& b) const {
    return std::pair{rating_.cost(a), a.tbt} < std::pair{rating_.cost(b), b.tbt};
  }

  Rating rating_;
};

struct by_queue {
  plan plan_for(const group_id& who, const prefill_line& line, const run&,
                const wish& one, const scene& here) const {
    return plan_locally(who, line, one, here);
  }
  nanoseconds cost(const plan& made) const {
    return made.queue;
  }
};

struct by_local_ttft {
  plan plan_for(const group_id& who, const prefill_line& line, const run&,
                const wish& one, const scene& here) const {
    return plan_locally(who, line, one, here);
  }
  nanoseconds cost(const plan& made) const {
    return made.ttft();
  }
};

/// Algorithm 1. A hot prefix spreads by it: the group that fetches it keeps a copy.
struct by_ttft {
  double threshold;

  plan plan_for(const group_id& who, const prefill_line& line, const run& best,
                const wish& one, const scene& here) const {
    auto local = local_run(here, who.node);
    auto held = is_much_longer(best, local) ? reuse_remote(best, local, one, here.cost)
                                            : reuse_local(local, one, here.cost);
    return plan_at(who, line, held, one, here);
  }

  /// The ratio, with a local run of nothing infinitely shorter than any.
  bool is_much_longer(const run& best, const run& local) const {
    return best.blocks > 0
           && static_cast<double>(best.blocks) > threshold * local.blocks;
  }

  nanoseconds cost(const plan& made) const {
    return made.ttft();
  }
};

constexpr std::array<std::string_view, 5> names{"random", "round_robin", "load_balance",
                                                "cache_aware", "kvcache_centric"};

/// The queue shortens as time goes by; the request itself does not.
nanoseconds prefill_relief(const plan& chosen, const wish& one, nanoseconds limit) {
  auto alone = chosen.fetch + chosen.prefill_time;
  if (alone > limit)
    return one.names_ttft ? nanoseconds{} : chosen.queue - limit;
  return chosen.ttft() - limit;
}

/// What counts against the limit `allowed`.
nanoseconds counted_ttft(const plan& chosen, const wish& one, nanoseconds allowed) {
  auto alone = chosen.fetch + chosen.prefill_time;
  return alone > allowed && !one.names_ttft ? chosen.queue : chosen.ttft();
}

nanoseconds counted_tbt(const plan& chosen, const wish& one, const scene& here,
                        tbt_check how) {
  if (how == tbt_check::none || !one.decodes)
    return {};
  if (how == tbt_check::at_arrival)
    return chosen.tbt;
  return tbt_of(here.all.decodes.at(chosen.decode), one, here, here.now);
}

nanoseconds decode_relief_of(const wish& one, const scene& here, double load_max) {
  auto alone = here.cost.decode.step_time(1, one.prompt_tokens);
  if (share(alone, one.tbt_limit) > load_max)
    return {};
  return decode_relief(here.all, here.cost.decode, here.now, one.tbt_limit, load_max)
         - here.now;
}

} // namespace

std::span<const std::string_view> placement_names() {
  return names;
}

std::unique_ptr<placement_policy> make_placement(std::string_view name,
                                                 const placement_options& how) {
  if (name == "random")
    return std::make_unique<blind_placement<seeded_numbers>>(
      seeded_numbers{std::mt19937_64{how.seed}});
  if (name == "round_robin")
    return std::make_unique<blind_placement<turns>>(turns{});
  if (name == "load_balance")
    return std::make_unique<rated_placement<by_queue>>(by_queue{});
  if (name == "cache_aware")
    return std::make_unique<rated_placement<by_local_ttft>>(by_local_ttft{});
  if (name == "kvcache_centric")
    return std::make_unique<rated_placement<by_ttft>>(
      by_ttft{how.kvcache_balancing_threshold});
  return nullptr;
}

std::optional<refusal> find_shortfall(const plan& chosen, const wish& one,
                                      const scene& here, const objectives& wanted) {
  nanoseconds allowed{static_cast<std::int64_t>(
    static_cast<double>(one.ttft_limit.count()) * wanted.load_max)};
  auto ttft_load = share(counted_ttft(chosen, one, allowed), one.ttft_limit);
  if (wanted.ttft && ttft_load > wanted.load_max)
    return refusal{reason::prefill_load, ttft_load,
                   prefill_relief(chosen, one, allowed)};
  auto tbt_load = share(counted_tbt(chosen, one, here, wanted.tbt), one.tbt_limit);
  if (tbt_load > wanted.load_max)
    return refusal{reason::decode_load, tbt_load,
                   decode_relief_of(one, here, wanted.load_max)};
  return std::nullopt;
}

} // namespace perigee::conductor
