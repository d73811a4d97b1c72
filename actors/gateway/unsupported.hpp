/// \file
/// The parameters that are known and not supported.
#pragma once

#include "actors/gateway/json_fields.hpp"

#include <map>

namespace perigee::gateway {

/// One parameter of another server's API.
struct unsupported {
  const char* why;

  /// Whether `value` asks for nothing, and so may stand.
  bool (*asks_nothing)(const json::value& value);
};

/// By name.
const std::map<std::string_view, unsupported>& unsupported_parameters();

} // namespace perigee::gateway
