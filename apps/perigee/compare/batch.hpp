/// \file
/// batch: several replays at a time, each in a process of its own.
#pragma once

#include "apps/perigee/replay/figures.hpp"
#include "schemas/result.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace perigee::app {

/// One run, and what it comes to; or a sentence that says why not.
using run_result = result<figures, std::string>;
using run_work = std::function<run_result()>;

/// Calls each of `all` in a child process, `at_once` of them at a time, and gives what
/// they came to in the order of `all`. One that crashes has failed; the others go on.
/// `told` hears how many are done. No other thread may be running.
std::vector<run_result> run_batch(std::span<const run_work> all, std::size_t at_once,
                                  const std::function<void(std::size_t)>& told);

/// As many as the machine has cores.
std::size_t default_jobs();

} // namespace perigee::app
