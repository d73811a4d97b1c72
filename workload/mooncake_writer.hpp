/// \file
/// mooncake_writer: requests as Mooncake publishes them.
#pragma once

#include "workload/request.hpp"

#include <ostream>
#include <string>

namespace perigee::workload {

/// One line, which mooncake_reader reads back as the same request; with its end. Times
/// finer than a millisecond are written as fractions of one, which are read exactly in
/// the first ten days.
std::string to_mooncake(const request& one);

void write_mooncake(std::ostream& to, const request& one);

} // namespace perigee::workload
