/// \file
/// block_numbers: ids for generated blocks.
#pragma once

#include "workload/request.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace perigee::workload {

/// Gives each new block the next number, so that nothing is shared by accident.
class block_numbers {
public:
  /// The ids of a prompt of `tokens`, of which the first `shared_tokens` are those of
  /// `prefix`. Only whole blocks are shared: what a block holds is hashed as one.
  std::vector<std::uint64_t> chain(std::span<const std::uint64_t> prefix,
                                   std::uint64_t shared_tokens, std::uint64_t tokens) {
    auto shared
      = std::min({prefix.size(), static_cast<std::size_t>(shared_tokens / block_tokens),
                  static_cast<std::size_t>(tokens / block_tokens)});
    auto same = prefix.first(shared);
    std::vector<std::uint64_t> ids(same.begin(), same.end());
    ids.reserve(blocks_of(tokens));
    while (ids.size() < blocks_of(tokens))
      ids.push_back(next_++);
    return ids;
  }

private:
  std::uint64_t next_ = 0;
};

} // namespace perigee::workload
