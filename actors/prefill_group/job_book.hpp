/// \file
/// job_book: all requests of a prefill group.
#pragma once

#include "actors/prefill_group/job.hpp"

#include <map>

namespace perigee::prefill {

/// What of a group's work the conductor wants to know.
struct totals {
  std::uint32_t waiting = 0;      ///< Of whose prompt nothing is being computed yet.
  std::uint32_t running = 0;      ///< The others, until all is.
  std::uint64_t tokens_ahead = 0; ///< To be computed for both.
};

/// Who is here, by request. Bounded. Pure.
class job_book {
public:
  job_book(std::size_t jobs_max, std::uint32_t block_tokens)
    : jobs_max_(jobs_max), block_tokens_(block_tokens) {}

  /// Who is there already, or a new one that joins. Null if there are as many as there
  /// may be. Valid until close().
  job* open(std::uint64_t request);

  void close(std::uint64_t request) {
    jobs_.erase(request);
  }

  job* find(std::uint64_t request) {
    auto at = jobs_.find(request);
    return at == jobs_.end() ? nullptr : &at->second;
  }

  /// It is here.
  job& at(std::uint64_t request) {
    return jobs_.at(request);
  }
  const job& at(std::uint64_t request) const {
    return jobs_.at(request);
  }

  std::size_t size() const {
    return jobs_.size();
  }

  /// Walks over all.
  totals sum() const;

  // In the order of requests.

  auto begin() {
    return jobs_.begin();
  }
  auto end() {
    return jobs_.end();
  }

private:
  std::size_t jobs_max_;
  std::uint32_t block_tokens_;
  std::map<std::uint64_t, job> jobs_;
};

} // namespace perigee::prefill
