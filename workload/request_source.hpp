/// \file
/// request_source: where requests come from, one at a time.
#pragma once

#include "schemas/result.hpp"
#include "workload/complaint.hpp"
#include "workload/request.hpp"

#include <optional>

namespace perigee::workload {

/// A request; nothing at the end; or why there can be none.
using next_request = result<std::optional<request>, complaint>;

/// Readers, generators, and what stands between them and a user. Holds one request at
/// a time, however long the trace is.
class request_source {
public:
  virtual ~request_source() = default;

  /// In order of arrival. After the end, and after a complaint, nothing follows.
  virtual next_request next() = 0;
};

} // namespace perigee::workload
