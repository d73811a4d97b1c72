/// \file
/// open_requests: all that a gateway's actor has in the cluster, by number and by
/// stream.
#pragma once

#include "actors/gateway/open_request.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace perigee::gateway {

/// Attempts to serve requests, one for each stream, each under a number of its own. A
/// request waits, and its prompt is kept, until the first token of its answer is here;
/// from then on it runs. Pure. All walks go by number.
class open_requests {
public:
  using table = std::map<std::uint64_t, open_request>;

  /// Numbers are those after `number`.
  explicit open_requests(std::uint64_t number) : number_(number) {}

  std::size_t size() const {
    return all_.size();
  }

  std::size_t waiting() const {
    return all_.size() - running_;
  }

  std::size_t running() const {
    return running_;
  }

  /// Of the prompts that are kept, all together.
  std::size_t prompt_tokens() const {
    return prompt_tokens_;
  }

  /// Takes in a request that waits, with its prompt, as a new attempt under a new
  /// number. There is no other of its stream.
  table::value_type& open(open_request one);

  /// Null if there is none.
  table::value_type* find(std::uint64_t number);
  std::optional<std::uint64_t> number_of(std::uint64_t stream) const;

  /// The first token of its answer is here, or a later one.
  void run(open_request& one);

  /// Takes it out, with its prompt if that is still kept. There is one of that number.
  open_request take(std::uint64_t number);

  template <class Is>
  std::vector<std::uint64_t> numbers_where(Is is) const {
    std::vector<std::uint64_t> found;
    for (const auto& [number, one] : all_)
      if (is(one))
        found.push_back(number);
    return found;
  }

private:
  std::uint64_t number_; // the last that was given out
  table all_;
  std::map<std::uint64_t, std::uint64_t> by_stream_; // to number
  std::size_t running_ = 0;
  std::size_t prompt_tokens_ = 0;
};

} // namespace perigee::gateway
