#include "actors/decode_instance/batch_plan.hpp"

#include <algorithm>

namespace perigee::decode {
namespace {

std::size_t lacking(std::span<const candidate> some, std::uint32_t steps,
                    const batch_limits& limits) {
  std::size_t blocks = 0;
  for (const auto& one : some)
    blocks += blocks_lacking(one, steps, limits.block_tokens);
  return blocks;
}

/// How many of `all`, from the oldest on, stay.
std::size_t staying(std::span<const candidate> all, const batch_limits& limits) {
  auto stay = all.size();
  auto blocks = limits.blocks_free + limits.blocks_coming;
  while (stay > 1
         && lacking(all.first(std::min(stay, limits.batch_max)), 1, limits) > blocks)
    blocks += all[--stay].blocks;
  return stay;
}

/// The most steps that all of them can take, and for which there are blocks.
std::uint32_t most_steps(std::span<const candidate> run, const batch_limits& limits) {
  if (run.empty())
    return 0;
  auto steps = limits.steps_max;
  for (const auto& one : run)
    steps = std::min(steps, one.steps_left);
  while (steps > 1 && lacking(run, steps, limits) > limits.blocks_free)
    --steps;
  return steps;
}

} // namespace

std::size_t blocks_lacking(const candidate& one, std::uint32_t steps,
                           std::uint32_t block_tokens) {
  auto positions = one.kv_tokens + std::min(steps, one.steps_left);
  auto blocks = (positions + block_tokens - 1) / block_tokens;
  return blocks > one.blocks ? blocks - one.blocks : 0;
}

batch plan_batch(std::span<const candidate> all, const batch_limits& limits) {
  batch plan;
  auto stay = staying(all, limits);
  for (auto i = all.size(); i > stay; --i)
    plan.park.push_back(all[i - 1].request);
  std::vector<candidate> run;
  auto left = limits.blocks_free;
  std::size_t news = 0;
  for (const auto& one : all.first(std::min(stay, limits.batch_max))) {
    auto lacks = blocks_lacking(one, 1, limits.block_tokens);
    bool is_told = news == 0 || one.news_bytes == 0
                   || news + one.news_bytes <= limits.news_bytes_max;
    if (lacks > left || !is_told)
      continue;
    left -= lacks;
    news += one.news_bytes;
    run.push_back(one);
  }
  plan.steps = most_steps(run, limits);
  for (const auto& one : run)
    plan.run.push_back(one.request);
  return plan;
}

} // namespace perigee::decode
