/// \file
/// line_terms: what is laid down for the line to another node.
#pragma once

#include "schemas/vocabulary.hpp"
#include "transport/pace.hpp"

#include <map>
#include <string>

namespace perigee::transfer {

struct line_terms {
  std::string node;      ///< What it is called.
  std::string transport; ///< The one way that may be taken; empty: the best.
  transport::rates most; ///< Of what this side moves.
  bool operator==(const line_terms&) const = default;
};

/// Of those that are not in it nothing is laid down.
using line_plan = std::map<node_index, line_terms>;

} // namespace perigee::transfer
