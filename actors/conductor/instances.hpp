/// \file
/// What pure code calls those who serve, and what they serve.
#pragma once

#include "schemas/vocabulary.hpp"

#include <chrono>

namespace perigee::conductor {

using std::chrono::nanoseconds;

/// On the owner's clock.
using moment = nanoseconds;

/// A prefill group, as in its name.
struct group_id {
  node_index node{};
  std::uint32_t index = 0;

  auto operator<=>(const group_id&) const = default;
};

/// A decode instance, as in its name.
struct instance_id {
  node_index node{};
  std::uint32_t index = 0;

  auto operator<=>(const instance_id&) const = default;
};

/// One attempt to serve a client's request.
enum class request_id : std::uint64_t {};

} // namespace perigee::conductor
