/// \file
/// tables: what `perigee trace` prints.
#pragma once

#include "apps/perigee/trace/history.hpp"

#include <cstdio>
#include <string>

namespace perigee::app::trace {

enum class list_order { arrival, ttft, total };

struct list_options {
  list_order by = list_order::arrival; ///< Those by time: the longest first.
  std::size_t first = 0;               ///< So many lines at most; 0: all.
};

/// A line for each request: outcome, tokens, and the sums of its stages.
void print_list(const history& all, const list_options& how, std::FILE* to);

/// Who says what to whom how often, and how long each type is on its way.
void print_stats(const history& all, std::FILE* to);

/// One request: what became of it, every message, and its stages, exactly.
void print_request(const history& all, const std::vector<journal::life_folder>& lives,
                   std::size_t place, std::FILE* to);

} // namespace perigee::app::trace
