/// \file
/// course: one request's messages, in the order in which they were sent.
#pragma once

#include "apps/perigee/trace/history.hpp"

#include <string>

namespace perigee::app::trace {

struct step {
  std::uint32_t message = 0;
  unsigned depth = 0;     ///< How many of its causes are in the course, too.
  bool is_shared = false; ///< It was about others as well.
};

/// The messages about the request at `place`.
std::vector<step> course_of(const history& all, std::size_t place);

/// The request that `wanted` names: by its number, one of its attempts, or its trace id
/// in hexadecimal; "n0@3:NUMBER" if several have that number. Fails with a sentence.
result<std::size_t, std::string> find_request(const history& all,
                                              const std::string& wanted);

} // namespace perigee::app::trace
