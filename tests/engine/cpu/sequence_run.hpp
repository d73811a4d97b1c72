/// \file
/// sequence_run: one sequence on an engine, all whose logits are kept.
#pragma once

#include "engine/engine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <vector>

namespace perigee::engine {

using tokens = std::vector<token_id>;
using block_table = std::vector<std::uint32_t>;
using logit_rows = std::map<std::uint32_t, std::vector<float>>; // by position

/// Bit by bit, so that also -0 and 0 differ, and NaN equals itself.
inline bool are_same_bits(const logit_rows& a, const logit_rows& b) {
  return a.size() == b.size()
         && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
              return x.first == y.first && x.second.size() == y.second.size()
                     && std::memcmp(x.second.data(), y.second.data(),
                                    x.second.size() * sizeof(float))
                          == 0;
            });
}

class sequence_run {
public:
  sequence_run(tokens prompt, block_table blocks, sampling_params how)
    : prompt_{std::move(prompt)}, blocks_{std::move(blocks)}, pick_{std::move(how)} {}

  /// The positions before are in the arena already.
  void begin_at(std::uint32_t position) {
    position_ = position;
  }

  /// The next part of a batch: up to `chunk` tokens of the prompt, or the last answer.
  slice next(std::size_t chunk) {
    std::span<const token_id> feed;
    if (position_ < prompt_.size()) {
      feed = std::span{prompt_}.subspan(position_);
      feed = feed.first(std::min(chunk, feed.size()));
    } else {
      last_ = answer_.back();
      feed = {&last_, 1};
    }
    slice part{
      feed,
      position_,
      blocks_,
      nullptr,
      nullptr,
      [this](std::uint32_t position, std::span<const float> logits) {
        CHECK(
          logits_.emplace(position, std::vector(logits.begin(), logits.end())).second);
      }};
    position_ += static_cast<std::uint32_t>(feed.size());
    if (position_ >= prompt_.size())
      part.pick = &pick_, part.drawn = &drawn_;
    return part;
  }

  /// After the batch with what next() gave was run.
  void take() {
    if (position_ >= prompt_.size())
      answer_.push_back(drawn_.token);
  }

  void run(engine& on, std::size_t chunk, std::size_t answer_tokens) {
    while (answer_.size() < answer_tokens) {
      auto part = next(chunk);
      REQUIRE(on.run({&part, 1}, {}));
      take();
    }
  }

  const tokens& answer() const {
    return answer_;
  }

  const logit_rows& logits() const {
    return logits_;
  }

private:
  tokens prompt_;
  block_table blocks_;
  sampler pick_;
  std::uint32_t position_ = 0;
  token_id last_ = 0;
  sampled drawn_;
  tokens answer_;
  logit_rows logits_;
};

} // namespace perigee::engine
