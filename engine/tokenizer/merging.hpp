/// \file
/// merging: the loop that both kinds of tokenizer are: join the best pair of neighbours
/// until none can be joined.
#pragma once

#include "engine/model_info.hpp"

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

namespace perigee::engine {

inline constexpr token_id no_token = ~token_id{0};

/// A stretch of text that is one token, or none, for now.
struct symbol {
  std::uint32_t begin = 0;
  std::uint32_t size = 0; ///< 0 once it was joined to its left neighbour.
  token_id token = no_token;
};

/// What two neighbours would become. The lowest rank is joined first, and of equals the
/// leftmost.
struct joint {
  double rank = 0;
  token_id token = no_token;
};

/// Joins neighbours in `symbols`, and leaves those that remain, in order.
///
/// `find(left, right)` says what two neighbours would become, if anything. Cost: O(n
/// log n) with one `find` for each pair that ever were neighbours.
template <class Find>
void merge(std::vector<symbol>& symbols, Find&& find) {
  constexpr std::uint32_t none = ~0U;
  struct link {
    std::uint32_t previous;
    std::uint32_t next;
  };
  struct candidate {
    double rank;
    std::uint32_t left;
    std::uint32_t right;
    std::uint32_t size; // of both, when they were neighbours
    token_id token;

    bool operator<(const candidate& other) const {
      return rank > other.rank || (rank == other.rank && left > other.left);
    }
  };
  const auto count = static_cast<std::uint32_t>(symbols.size());
  std::vector<link> links(count);
  std::priority_queue<candidate> candidates;
  const auto consider = [&](std::uint32_t left, std::uint32_t right) {
    if (left == none || right == none)
      return;
    if (const std::optional<joint> found = find(symbols[left], symbols[right]))
      candidates.push({found->rank, left, right,
                       symbols[left].size + symbols[right].size, found->token});
  };
  for (std::uint32_t i = 0; i < count; ++i)
    links[i] = {i == 0 ? none : i - 1, i + 1 == count ? none : i + 1};
  for (std::uint32_t i = 1; i < count; ++i)
    consider(i - 1, i);
  while (!candidates.empty()) {
    const candidate best = candidates.top();
    candidates.pop();
    symbol& left = symbols[best.left];
    symbol& right = symbols[best.right];
    // One of them may have been joined to another since.
    if (left.size == 0 || right.size == 0 || left.size + right.size != best.size)
      continue;
    left.size = best.size;
    left.token = best.token;
    right.size = 0;
    const std::uint32_t next = links[best.right].next;
    links[best.left].next = next;
    if (next != none)
      links[next].previous = best.left;
    consider(links[best.left].previous, best.left);
    consider(best.left, next);
  }
  std::erase_if(symbols, [](const symbol& one) { return one.size == 0; });
}

} // namespace perigee::engine
