/// \file
/// idle_processors: which cores nobody uses just now.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace perigee::engine::cpu {

/// Those we may run on that were at least nine tenths idle over 50 ms from now, in
/// order; the caller sleeps meanwhile. Empty where there is no /proc/stat.
std::vector<std::size_t> idle_processors();

/// The pure part: `before` and `after` are /proc/stat at two times.
std::vector<std::size_t> idle_between(std::string_view before, std::string_view after);

} // namespace perigee::engine::cpu
