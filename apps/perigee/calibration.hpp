/// \file
/// calibration: measures what batches cost on an engine, for the conductor to predict
/// with.
#pragma once

#include "actors/cluster/topology.hpp"
#include "apps/perigee/model.hpp"
#include "engine/engine.hpp"
#include "schemas/result.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace perigee::app {

enum class effort : std::uint8_t {
  quick,    ///< Few and small batches: for a start without a cost model.
  thorough, ///< For a model to be kept.
};

/// Told each measurement: "prefill tokens=64 cached=448 ms=12.3".
using on_measured = std::function<void(const std::string& line)>;

/// Runs batches on `prefills` and on `decodes`, which may be one, and fits the costs to
/// the fastest of a few runs of each. Overwrites what is in their arenas. Fails with a
/// sentence if an engine does or if what was measured determines nothing.
result<cluster::cost_settings, std::string> calibrate(engine::engine& prefills,
                                                      engine::engine& decodes,
                                                      effort how,
                                                      const on_measured& tell = {});

/// The same on engines made for it, as the first prefill group and the first decode
/// instance of `all` have them.
result<cluster::cost_settings, std::string>
calibrate_engines(const model& of, const cluster::topology& all, effort how,
                  const on_measured& tell = {});

} // namespace perigee::app
