#include "engine/cpu/attention.hpp"

#include <algorithm>

namespace perigee::engine::cpu {
namespace {

constexpr std::size_t tokens_max = 8;
constexpr std::size_t score_bytes = std::size_t{256} << 10;

} // namespace

std::size_t attention_tokens(std::size_t positions, std::size_t group) {
  return std::clamp(score_bytes / (positions * group * sizeof(float) + 1),
                    std::size_t{1}, tokens_max);
}

attention::range attention::visible(const attention_item& item, std::size_t token) {
  auto end = item.first_position + token + 1;
  return {item.window > 0 && end > item.window ? end - item.window : 0, end};
}

void attention::run(const attention_item& item) {
  auto block_tokens = item.kv.arena.layout.block_tokens;
  begin_ = visible(item, 0).begin / block_tokens * block_tokens;
  auto end = visible(item, item.tokens - 1).end;
  stride_ = (end - begin_ + 15) / 16 * 16;
  gather_queries(item);
  score(item);
  mix(item);
}

void attention::gather_queries(const attention_item& item) {
  auto width = item.group * item.kv.arena.layout.head_dim;
  queries_.resize(item.tokens * width);
  for (std::size_t token = 0; token < item.tokens; ++token)
    std::copy_n(item.queries + token * item.query_stride, width,
                queries_.data() + token * width);
}

void attention::score(const attention_item& item) {
  const auto& layout = item.kv.arena.layout;
  auto count = item.tokens * item.group;
  scores_.resize(count * stride_);
  rows queries{queries_.data(), count, layout.head_dim, layout.head_dim};
  auto end = visible(item, item.tokens - 1).end;
  for (auto at = begin_; at < end; at += layout.block_tokens)
    kernels_->scores(
      queries, item.kv.key(item.blocks[at / layout.block_tokens], item.kv_head, 0),
      item.kv.type(), std::min<std::size_t>(layout.block_tokens, end - at), item.factor,
      {scores_.data() + (at - begin_), stride_});
  for (std::size_t query = 0; query < count; ++query) {
    auto [from, to] = visible(item, query / item.group);
    kernels_->softmax(scores_.data() + query * stride_ + (from - begin_), to - from);
  }
}

void attention::mix(const attention_item& item) {
  auto block_tokens = item.kv.arena.layout.block_tokens;
  auto width = item.group * item.kv.arena.layout.head_dim;
  out_.assign(item.tokens * width, 0.0f);
  auto first = visible(item, 0);
  auto last = visible(item, item.tokens - 1);
  for (auto at = begin_; at < last.end; at += block_tokens) {
    if (at >= last.begin && at + block_tokens <= first.end) { // all see all of it
      mix_block(item, 0, item.tokens, {at, at + block_tokens});
      continue;
    }
    for (std::size_t token = 0; token < item.tokens; ++token) {
      auto [from, to] = visible(item, token);
      range seen{std::max(from, at), std::min(to, at + block_tokens)};
      if (seen.begin < seen.end)
        mix_block(item, token, 1, seen);
    }
  }
  for (std::size_t token = 0; token < item.tokens; ++token)
    std::copy_n(out_.data() + token * width, width, item.out + token * item.out_stride);
}

void attention::mix_block(const attention_item& item, std::size_t first_token,
                          std::size_t tokens, range positions) {
  const auto& layout = item.kv.arena.layout;
  auto first = first_token * item.group;
  rows weights{scores_.data() + first * stride_ + (positions.begin - begin_),
               tokens * item.group, positions.end - positions.begin, stride_};
  kernels_->mix(weights,
                item.kv.value(item.blocks[positions.begin / layout.block_tokens],
                              item.kv_head, positions.begin % layout.block_tokens),
                item.kv.type(), layout.head_dim,
                {out_.data() + first * layout.head_dim, layout.head_dim});
}

} // namespace perigee::engine::cpu
