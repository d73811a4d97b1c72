/// \file
/// parrot: an engine that repeats what it was told.
#pragma once

#include "engine/engine.hpp"

#include <vector>

namespace embed {

/// Tokens are letters, and each is followed by the one `period` before it: so "abc"
/// with a period of 3 goes on "abcabc...". It has that letter from its arena, as a real
/// engine has keys and values: what was told to one parrot, another can go on with,
/// once the blocks have moved.
class parrot final : public perigee::engine::engine {
public:
  parrot(std::uint32_t period, std::uint32_t arena_blocks,
         std::uint32_t batch_tokens_max);

  /// Of the arena of every parrot.
  static perigee::engine::kv_layout layout();

  const perigee::engine::model_info& model() const override;
  perigee::engine::arena_view arena() const override;
  std::uint32_t batch_tokens_max() const override;
  perigee::result<void, perigee::engine::run_fault>
  run(std::span<perigee::engine::slice> batch,
      const perigee::engine::layer_hooks& hooks) override;

private:
  using letter = std::uint16_t; // what a block's K has for each token

  letter& place(const perigee::engine::slice& of, std::uint32_t position);

  perigee::engine::model_info model_;
  std::uint32_t period_;
  std::uint32_t blocks_;
  std::uint32_t batch_tokens_max_;
  std::vector<std::byte> memory_;
};

} // namespace embed
