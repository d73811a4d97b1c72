/// \file
/// Numbers as bytes, the least significant first, on any machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace perigee::transport::streams {

template <class Number>
void put_number(std::byte* to, Number what) {
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    to[i] = static_cast<std::byte>(what >> (8 * i));
}

template <class Number>
Number get_number(const std::byte* from) {
  Number made = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    made = static_cast<Number>(made | (std::to_integer<Number>(from[i]) << (8 * i)));
  return made;
}

inline void put16(std::byte* to, std::uint16_t what) {
  put_number(to, what);
}
inline void put32(std::byte* to, std::uint32_t what) {
  put_number(to, what);
}
inline void put64(std::byte* to, std::uint64_t what) {
  put_number(to, what);
}
inline std::uint16_t get16(const std::byte* from) {
  return get_number<std::uint16_t>(from);
}
inline std::uint32_t get32(const std::byte* from) {
  return get_number<std::uint32_t>(from);
}
inline std::uint64_t get64(const std::byte* from) {
  return get_number<std::uint64_t>(from);
}

} // namespace perigee::transport::streams
