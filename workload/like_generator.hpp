/// \file
/// like_generator: requests like those of a published trace.
#pragma once

#include "workload/block_numbers.hpp"
#include "workload/likeness.hpp"
#include "workload/request_source.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace perigee::workload {

/// Arrivals are Poisson. Each draws its lengths first, so that these are exactly as
/// published; then whether it follows an earlier prompt, one of about the length that
/// is to be kept, that arrived about as long ago as is usual.
///
/// Without end but for `arrival_max`. Remembers the prompts of a few median gaps, and
/// `remembered_max` at most.
class like_generator : public request_source {
public:
  static constexpr std::size_t remembered_max = 100'000;

  /// `kind` outlives this. `rate`, in requests per second, is the kind's own if absent.
  like_generator(const likeness& kind, std::uint64_t seed,
                 std::optional<double> rate = {});

  next_request next() override;

private:
  /// A prompt that may be followed; by length, then by number.
  struct prompt {
    std::chrono::nanoseconds arrival;
    std::size_t followers = 0;
    std::vector<std::uint64_t> block_ids;
  };
  using prompt_name = std::pair<std::uint64_t, std::uint64_t>;
  using shelf = std::map<prompt_name, prompt>;

  std::size_t start_of(std::uint64_t tokens);
  std::vector<std::uint64_t> blocks_for(std::uint64_t tokens);
  shelf::iterator find_followed(shelf& from, std::uint64_t tokens);
  void remember(std::size_t start, std::uint64_t tokens, prompt one);
  void forget();

  const likeness& kind_;
  double seconds_between_;
  chance dice_;
  block_numbers numbers_;
  std::vector<std::vector<std::uint64_t>> starts_; ///< The last one: of nothing.
  std::vector<shelf> shelves_;                     ///< One for each start.
  std::deque<std::pair<std::size_t, prompt_name>> oldest_first_;
  std::uint64_t prompts_ = 0;
  double seconds_ = 0; ///< When the next one arrives.
  std::chrono::nanoseconds now_{0};
};

} // namespace perigee::workload
