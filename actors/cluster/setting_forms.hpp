/// \file
/// What the texts of settings may look like, and usual bounds of numbers.
#pragma once

#include "actors/cluster/settings.hpp"

namespace perigee::cluster {

inline constexpr double KiB = 1024;
inline constexpr double MiB = 1024 * KiB;
inline constexpr double TiB = 1024 * 1024 * MiB;
inline constexpr double day_ms = 24.0 * 3600 * 1000;
inline constexpr double cost_max = 1e9;

inline constexpr between any_time{0, day_ms};
inline constexpr between some_time{1, day_ms};
inline constexpr between any_cost{0, cost_max};

bool is_name(const std::string& text);
bool is_name_or_empty(const std::string& text);
bool is_filled(const std::string& text);

/// 64 hexadecimal digits; or nothing.
bool is_public_key(const std::string& text);

/// "127.0.0.1:8000", "[::1]:8000".
bool is_address_and_port(const std::string& text);
bool is_address_and_port_or_empty(const std::string& text);

inline constexpr of_form a_name{"a name of at most 32 letters, digits, \"-\" and \"_\"",
                                is_name};
inline constexpr of_form a_name_or_empty{
  "a name of at most 32 letters, digits, \"-\" and \"_\", or an empty text",
  is_name_or_empty};
inline constexpr of_form a_public_key{"64 hexadecimal digits, or an empty text",
                                      is_public_key};
inline constexpr of_form a_path{"a path", is_filled};
inline constexpr of_form an_address{
  "an IP address and a port, such as \"127.0.0.1:8000\" or \"[::]:8000\"",
  is_address_and_port};
inline constexpr of_form an_address_or_empty{
  "an IP address and a port, such as \"127.0.0.1:7400\", or an empty text",
  is_address_and_port_or_empty};

} // namespace perigee::cluster
