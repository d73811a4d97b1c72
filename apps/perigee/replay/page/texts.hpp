/// \file
/// The parts of a report as a page, embedded into the program: see EmbedText.cmake.
#pragma once

#include <string_view>

namespace perigee::app::page {

extern const std::string_view frame; ///< page.html, with @NAMES@ of what goes into it.
extern const std::string_view plots; ///< plots.js
extern const std::string_view d3;    ///< The library that draws.

} // namespace perigee::app::page
