/// \file
/// value: one metadata entry of a GGUF file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace perigee::engine::gguf {

/// The values are the file's.
enum class value_type : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

inline constexpr std::uint32_t value_types = 13;

/// "u32", "string". Never null.
const char* name_of(value_type type);

/// Bytes of one such value; 0 for strings and arrays, which have no fixed size.
std::size_t bytes_of(value_type type);

constexpr bool is_integer(value_type type) {
  return type != value_type::f32 && type != value_type::f64
         && type != value_type::boolean && type != value_type::string
         && type != value_type::array;
}

/// A view into the file.
struct value {
  value_type type = value_type::u8;

  /// The type of its elements, if it is an array.
  value_type element = value_type::u8;
  std::size_t count = 1; ///< Of elements.

  /// The numbers, little-endian and not aligned, or the bytes of a string. For arrays
  /// of arrays, which nothing uses, all that they consist of.
  std::span<const std::byte> raw;

  std::vector<std::string_view> strings; ///< If it is an array of strings.

  /// Element `index` as an integer; the type must be one, or boolean. u64 above the
  /// range of i64 comes back as the greatest i64.
  std::int64_t integer(std::size_t index = 0) const;

  /// Element `index`; the type must be f32 or f64.
  double real(std::size_t index = 0) const;

  /// The type must be string.
  std::string_view text() const;
};

} // namespace perigee::engine::gguf
