#include "actors/prefill_group/load_pace.hpp"

#include <algorithm>

namespace perigee::prefill {
namespace {

constexpr std::int64_t scale = 1024;

// More of either would not fit when multiplied, and means nothing.
constexpr std::uint32_t longest_prompt = 1u << 24;
constexpr load_pace::span longest = std::chrono::minutes{1};

std::int64_t spread(std::int64_t pace, std::uint32_t tokens) {
  return pace / scale * std::min(tokens, longest_prompt)
         + pace % scale * tokens / scale;
}

} // namespace

void load_pace::loaded(node_index from, schema::Tier in, std::uint32_t tokens,
                       span took) {
  follow(loads_[{from, in}], tokens, took);
}

void load_pace::computed(std::uint32_t tokens, span took) {
  follow(compute_, tokens, took);
}

load_pace::span load_pace::head_start(node_index from, schema::Tier in,
                                      std::uint32_t load_tokens,
                                      std::uint32_t compute_tokens) const {
  auto load = loads_.find({from, in});
  if (load == loads_.end() || !load->second || !compute_)
    return {};
  return std::max(
    span{spread(*load->second, load_tokens) - spread(*compute_, compute_tokens)},
    span{});
}

void load_pace::follow(std::optional<pace>& mean, std::uint32_t tokens, span took) {
  if (tokens == 0)
    return;
  auto seen = std::min(took, longest).count() * scale / tokens;
  mean = mean ? *mean + (seen - *mean) / 4 : seen;
}

} // namespace perigee::prefill
