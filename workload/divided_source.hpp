/// \file
/// divided_source: a trace with shorter prompts and answers.
#pragma once

#include "workload/request_source.hpp"

#include <cstdint>

namespace perigee::workload {

/// Lengths are divided by `by`, and rounded up; so are the blocks that ids stand for,
/// which then have `block_tokens / by` tokens. What was shared stays shared, and a
/// small machine can serve what was asked of a large one.
class divided_source : public request_source {
public:
  /// `all` belongs to the caller and outlives this; `block_tokens` is a multiple of
  /// `by`.
  divided_source(request_source& all, std::uint32_t by);

  next_request next() override;

private:
  request_source& all_;
  std::uint32_t by_;
};

/// Whether lengths may be divided by `by`.
constexpr bool divides_blocks(std::uint32_t by) {
  return by > 0 && block_tokens % by == 0;
}

} // namespace perigee::workload
