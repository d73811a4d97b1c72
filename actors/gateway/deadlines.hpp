/// \file
/// deadlines: all that a gateway's actor waits for, in one table.
#pragma once

#include "actors/runtime/pending_table.hpp"

#include <cstdint>
#include <utility>

namespace perigee::gateway {

enum class waits_for : std::uint8_t {
  parts,     ///< Of a submission; by stream.
  answer,    ///< By number.
  cancelled, ///< By number.
  news,      ///< Of who was lost, before it is placed again; by number.
};

struct nothing {};

using due_key = std::pair<waits_for, std::uint64_t>;
using deadlines = rt::pending_table<due_key, nothing>;

/// There is room for whatever there may be.
inline void keep_until(deadlines& all, const due_key& key,
                       std::chrono::nanoseconds when) {
  bool kept = all.put(key, when, {});
  PERIGEE_ASSERT(kept, "there is a deadline for whatever there may be");
}

} // namespace perigee::gateway
