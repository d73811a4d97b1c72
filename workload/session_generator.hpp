/// \file
/// session_generator: requests to one's own measure.
#pragma once

#include "workload/block_numbers.hpp"
#include "workload/chance.hpp"
#include "workload/request_source.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <vector>

namespace perigee::workload {

/// Lengths whose logarithms are normal: many are short, some very long.
struct length_law {
  double mean = 0;
  double median = 0; ///< At most the mean; the same makes all lengths equal.
};

/// A level of a tree of shared beginnings, from its root.
struct tree_level {
  std::uint64_t tokens = 0; ///< That each of its nodes adds.
  std::size_t branches = 1; ///< That each node of the level above has.
};

struct session_law {
  double rate = 1; ///< Requests a second, over all sessions and in the long run.
  /// The shape of the gamma law that gaps between sessions have: 1 is Poisson, less
  /// comes in bursts, more comes evenly.
  double burstiness = 1;
  length_law input{2000, 1000}; ///< What a turn adds by itself.
  length_law output{200, 100};
  double turns_mean = 1; ///< Of a session; the number is geometric.
  /// From an answer to the next turn; exponential.
  std::chrono::duration<double> think_mean{30};
  std::vector<tree_level> tree;      ///< What a session's first turn begins with.
  std::uint64_t input_max = 131'072; ///< A session ends before it would be longer.
};

/// What is wrong with a law, in words; or nothing.
std::optional<std::string> fault_of(const session_law& law);

/// Sessions whose turns repeat all that was said before: a turn's input is the one
/// before it, its answer, and what is new. An answer's own blocks get their ids when
/// they are sent again. A later turn has a `think`, and arrives as if no answer took
/// time: whoever sends it waits for that. Without end but for `arrival_max`.
class session_generator : public request_source {
public:
  static constexpr std::size_t tree_nodes_max = 100'000;
  /// At so many, what begins has but one turn.
  static constexpr std::size_t open_max = 100'000;

  /// `law` has no fault.
  session_generator(session_law law, std::uint64_t seed);

  next_request next() override;

private:
  struct turn {
    double seconds = 0;
    std::optional<std::chrono::nanoseconds> before; ///< When the last one arrived.
    std::uint64_t session = 0;
    std::uint64_t tokens_before = 0;      ///< Of the last input and its answer.
    std::vector<std::uint64_t> block_ids; ///< Of the last input, or of the tree.
    std::uint64_t block_tokens_known = 0; ///< How many tokens those hold.

    bool operator>(const turn& other) const {
      return seconds != other.seconds ? seconds > other.seconds
                                      : session > other.session;
    }
  };

  void grow(std::size_t level, const std::vector<std::uint64_t>& above,
            std::uint64_t tokens);
  void begin_session();
  std::uint64_t length(const length_law& law);
  double gap();
  request take(turn one);

  session_law law_;
  chance dice_;
  block_numbers numbers_;
  std::uint64_t tree_tokens_ = 0;
  std::vector<std::vector<std::uint64_t>> leaves_;
  std::priority_queue<turn, std::vector<turn>, std::greater<>> turns_;
  double next_session_ = 0;
  std::uint64_t sessions_ = 0;
};

} // namespace perigee::workload
