/// \file
/// merging: the loop that both kinds of tokenizer are: join the best pair of neighbours
/// until none can be joined.
#pragma once

#include "engine/model_info.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
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

/// Merges one word after another. Keeps its memory; not thread-safe.
class merging {
public:
  /// Of the next word: put in what it consists of, then merge(), then read what is
  /// left.
  std::vector<symbol> symbols;

  /// Joins neighbours in `symbols`, and leaves those that remain, in order.
  ///
  /// `find(left, right)` says what two neighbours would become, if anything. Cost:
  /// O(n log n), with one `find` for each pair that ever were neighbours.
  template <class Find>
  void merge(Find&& find) {
    link_all();
    candidates_.clear();
    for (std::uint32_t i = 1; i < symbols.size(); ++i)
      consider(i - 1, i, find);
    std::ranges::make_heap(candidates_, comes_later{});
    while (!candidates_.empty()) {
      std::ranges::pop_heap(candidates_, comes_later{});
      const candidate best = candidates_.back();
      candidates_.pop_back();
      if (!join(best))
        continue;
      if (consider(links_[best.left].previous, best.left, find))
        std::ranges::push_heap(candidates_, comes_later{});
      if (consider(best.left, links_[best.left].next, find))
        std::ranges::push_heap(candidates_, comes_later{});
    }
    std::erase_if(symbols, [](const symbol& one) { return one.size == 0; });
  }

private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

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
  };

  struct comes_later {
    bool operator()(const candidate& one, const candidate& other) const {
      return one.rank > other.rank || (one.rank == other.rank && one.left > other.left);
    }
  };

  void link_all() {
    const auto count = static_cast<std::uint32_t>(symbols.size());
    links_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i)
      links_[i] = {i == 0 ? nobody : i - 1, i + 1 == count ? nobody : i + 1};
  }

  /// Puts the pair at the end of the candidates, if it can be joined.
  template <class Find>
  bool consider(std::uint32_t left, std::uint32_t right, Find& find) {
    if (left == nobody || right == nobody)
      return false;
    const std::optional<joint> found = find(symbols[left], symbols[right]);
    if (found)
      candidates_.push_back({found->rank, left, right,
                             symbols[left].size + symbols[right].size, found->token});
    return found.has_value();
  }

  /// False if one of the two was joined to another since.
  bool join(const candidate& best) {
    symbol& left = symbols[best.left];
    symbol& right = symbols[best.right];
    if (left.size == 0 || right.size == 0 || left.size + right.size != best.size)
      return false;
    left.size = best.size;
    left.token = best.token;
    right.size = 0;
    const std::uint32_t next = links_[best.right].next;
    links_[best.left].next = next;
    if (next != nobody)
      links_[next].previous = best.left;
    return true;
  }

  std::vector<link> links_;
  std::vector<candidate> candidates_; // a heap
};

} // namespace perigee::engine
