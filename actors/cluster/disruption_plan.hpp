/// \file
/// disruption_plan: when whom of a cluster something happens to.
#pragma once

#include "schemas/block.capnp.h"
#include "schemas/vocabulary.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace perigee::cluster {

struct disruption {
  enum class kind : std::uint8_t {
    outage, ///< Actors end, and none is started again before it is over.
    fill,   ///< The node's shard has no room.
  };
  struct one_actor {
    schema::Role role{};
    std::uint32_t index = 0;
  };

  kind what = kind::outage;
  node_index node{};
  std::optional<one_actor> who{}; ///< Of an outage; nothing: all of the node.

  std::chrono::nanoseconds begins{};
  std::chrono::nanoseconds ends = std::chrono::nanoseconds::max();

  bool concerns(node_index on, schema::Role role, std::uint32_t index) const {
    return node == on && (!who || (who->role == role && who->index == index));
  }
};

/// Pure: it is told the time.
class disruption_plan {
public:
  using nanoseconds = std::chrono::nanoseconds;

  explicit disruption_plan(const std::vector<disruption>& all);

  struct change {
    std::size_t of; ///< Index of the disruption.
    bool begins;    ///< Or ends.
  };

  /// When the next begins or ends; nothing: it is over.
  std::optional<nanoseconds> next() const;

  /// All that has come by `now`, in order: at one moment what ends comes first, but not
  /// before its own begin. Each is taken once.
  std::vector<change> take(nanoseconds now);

private:
  struct dated {
    nanoseconds at;
    change what;
  };

  std::vector<dated> all_; // by time
  std::size_t taken_ = 0;
};

} // namespace perigee::cluster
