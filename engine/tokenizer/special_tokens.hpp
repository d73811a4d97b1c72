/// \file
/// special_tokens: finds the tokens that are recognised before any text is merged.
#pragma once

#include "engine/model_info.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace perigee::engine {

/// A part of a text: one special token, or words between them.
struct fragment {
  std::size_t begin = 0;
  std::size_t size = 0;
  std::optional<token_id> token;
};

/// A part of a text that means the structure written in it, or does not.
struct stretch {
  std::size_t end = 0; ///< It begins where the one before ends.
  bool means_structure = false;
};

/// User-defined tokens are recognised wherever they stand; structure (control tokens)
/// only where it lies wholly in stretches that mean it.
class special_tokens {
public:
  /// `text` must not be empty, and is not in here yet.
  void add(token_id token, std::string_view text, bool is_structure);

  /// Cuts `text`; `stretches` must cover it.
  ///
  /// Longer tokens come first: one is recognised wherever it doesn't overlap a longer
  /// one, nor an equal one to its left. Cost: linear in `text` but for what repeats;
  /// memory in proportion to how many places a token could begin at.
  std::vector<fragment> partition(std::string_view text,
                                  std::span<const stretch> stretches) const;

private:
  struct node {
    token_id token;
    bool is_token = false;
    bool is_structure = false;
  };

  struct candidate {
    std::uint32_t at;
    std::uint32_t longest;       // bytes of the longest token that begins here
    std::uint32_t structure_max; // bytes that structure may have here
  };

  struct taken {
    std::size_t begin;
    std::size_t size;
    token_id token;
  };

  std::optional<std::uint32_t> child(std::uint32_t parent, char byte) const;
  std::uint32_t longest_at(std::string_view text, std::size_t structure_max) const;
  std::optional<token_id> exactly(std::string_view text,
                                  std::size_t structure_max) const;
  std::vector<candidate> find_candidates(std::string_view text,
                                         std::span<const stretch> stretches) const;
  std::vector<taken> choose(std::string_view text,
                            std::vector<candidate> candidates) const;

  std::vector<node> nodes_{node{}};
  std::unordered_map<std::uint64_t, std::uint32_t> children_; // by parent and byte
  std::array<bool, 256> begins_{};
  std::set<std::size_t, std::greater<>> sizes_; // that any token has
};

} // namespace perigee::engine
