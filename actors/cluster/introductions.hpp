/// \file
/// introductions: the messages of clusters' actors beside which handles may travel.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/scribe.hpp"

namespace perigee::rt {

template <>
inline constexpr bool is_introduction<schema::Prove> = true;
template <>
inline constexpr bool is_introduction<schema::Met> = true;
template <>
inline constexpr bool is_introduction<schema::Join> = true;
template <>
inline constexpr bool is_introduction<schema::Found> = true;

} // namespace perigee::rt
