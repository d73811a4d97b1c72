/// \file
/// bench_engine: how fast the engine runs a model here, beside what the machine allows.
#pragma once

#include <cstddef>
#include <string>

namespace perigee::app {

struct engine_bench {
  std::string model; ///< A GGUF file.
  std::size_t threads = 2;
  std::string kernels; ///< As engine/cpu calls them; empty: the fastest.
  bool kv_f32 = false;

  /// Measures everything a second time while another process keeps one processor busy.
  bool with_load = false;
};

/// Prints prefill and decode rates, each beside its floor: the time that reading the
/// weights or multiplying by them takes at the rates that this machine was just
/// measured to have. Takes some ten seconds, with load twice as long. The exit code: 0,
/// or 1 with a line on stderr.
int bench_engine(const engine_bench& how);

} // namespace perigee::app
