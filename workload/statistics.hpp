/// \file
/// statistics: what a trace is like.
#pragma once

#include "workload/request.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace perigee::workload {

struct length_summary {
  double mean = 0;
  std::uint64_t least = 0, p1 = 0, p10 = 0, p25 = 0, p50 = 0, p75 = 0, p90 = 0, p95 = 0,
                p99 = 0, most = 0;
};

/// What a cache that forgets nothing and is everywhere would have spared.
struct best_hits {
  double by_blocks = 0; ///< Leading blocks seen before, of all blocks.
  double by_tokens = 0; ///< The same, of all tokens: a last block counts as it is full.
  double per_request = 0; ///< Each request's share of tokens, averaged over requests.
};

/// How much of a depth of prompts was seen before: blocks `from` to the next entry's.
struct depth_hits {
  std::size_t from = 0;
  std::uint64_t blocks = 0;
  std::uint64_t hits = 0;
};

struct trace_summary {
  std::size_t requests = 0;
  std::chrono::nanoseconds duration{0}; ///< From time 0 to the last arrival.
  std::size_t arrival_times = 0;        ///< Different ones.
  std::size_t waiting = 0;              ///< Turns that wait for an answer.
  length_summary input, output;
  std::uint64_t blocks = 0;
  std::uint64_t blocks_different = 0;
  std::uint64_t blocks_once = 0;      ///< Different blocks that one request has.
  std::vector<std::uint64_t> hottest; ///< How often the ten most frequent occur.
  best_hits hits;
  std::vector<depth_hits> by_depth; ///< Depths 0, 1, 2 to 3, 4 to 7, ...
};

/// Takes a trace request by request. Memory: 16 bytes or so per different block, and
/// one count per different length.
class statistics {
public:
  /// In order of arrival.
  void add(const request& one);
  trace_summary summary() const;

private:
  using histogram = std::map<std::uint32_t, std::uint64_t>;

  static length_summary summary_of(const histogram& lengths);

  std::size_t requests_ = 0;
  std::chrono::nanoseconds last_{-1};
  std::size_t arrival_times_ = 0;
  std::size_t waiting_ = 0;
  histogram input_, output_;
  std::unordered_map<std::uint64_t, std::uint32_t> seen_;
  std::uint64_t blocks_ = 0, hits_ = 0, tokens_ = 0, tokens_hit_ = 0;
  double share_sum_ = 0;
  std::array<depth_hits, 16> depths_{};
};

} // namespace perigee::workload
