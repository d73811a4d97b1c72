/// \file
/// Reads JSON text. For .cpp files only: Boost.JSON is not cheap to include.
#pragma once

#include "actors/gateway/api_error.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <string_view>

namespace perigee::gateway {

/// Names of one object, at most: more than any parameter has room for.
inline constexpr std::size_t names_max = 2048;

/// The object that `body` is. Refused are what is no JSON in UTF-8, what nests too
/// deeply, and an object in which a name comes twice: servers would differ in which of
/// the two holds. Cost: O(n log n), for the names.
api_result<boost::json::object> read_object(std::string_view body);

} // namespace perigee::gateway
