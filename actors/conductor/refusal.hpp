/// \file
/// Why a request is turned away, with the figures that decided it.
#pragma once

#include "actors/conductor/instances.hpp"

#include <cstdint>

namespace perigee::conductor {

enum class reason : std::uint8_t {
  prefill_load = 1, ///< The objective for the first token could not be met.
  decode_load,      ///< The objective between tokens could not be met.
  queue_full,       ///< The book takes no more.
  no_instance,      ///< No prefill group or no decode instance is up.
};

struct refusal {
  reason why{};
  double load = 0; ///< As a share of its limit: above 1 is why, if it is a load.

  /// After how long it may be worth to ask again. Zero: it would be refused then too.
  nanoseconds retry_after{};

  bool operator==(const refusal&) const = default;
};

} // namespace perigee::conductor
