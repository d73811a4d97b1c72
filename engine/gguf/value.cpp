#include "engine/gguf/value.hpp"

#include "schemas/assert.hpp"

#include <array>
#include <cstring>
#include <limits>

namespace perigee::engine::gguf {
namespace {

struct kind {
  const char* name;
  std::size_t bytes;
};

constexpr std::array<kind, value_types> kinds{{{"u8", 1},
                                               {"i8", 1},
                                               {"u16", 2},
                                               {"i16", 2},
                                               {"u32", 4},
                                               {"i32", 4},
                                               {"f32", 4},
                                               {"boolean", 1},
                                               {"string", 0},
                                               {"array", 0},
                                               {"u64", 8},
                                               {"i64", 8},
                                               {"f64", 8}}};

template <class T>
T at(std::span<const std::byte> raw, std::size_t index) {
  PERIGEE_ASSERT(index < raw.size() / sizeof(T), "an element that isn't there");
  T it;
  std::memcpy(&it, raw.data() + index * sizeof(T), sizeof(T));
  return it;
}

} // namespace

const char* name_of(value_type type) {
  return kinds[static_cast<std::uint32_t>(type)].name;
}

std::size_t bytes_of(value_type type) {
  return kinds[static_cast<std::uint32_t>(type)].bytes;
}

std::int64_t value::integer(std::size_t index) const {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  switch (type == value_type::array ? element : type) {
    case value_type::u8: return at<std::uint8_t>(raw, index);
    case value_type::i8: return at<std::int8_t>(raw, index);
    case value_type::u16: return at<std::uint16_t>(raw, index);
    case value_type::i16: return at<std::int16_t>(raw, index);
    case value_type::u32: return at<std::uint32_t>(raw, index);
    case value_type::i32: return at<std::int32_t>(raw, index);
    case value_type::i64: return at<std::int64_t>(raw, index);
    case value_type::boolean: return at<std::uint8_t>(raw, index);
    case value_type::u64: {
      auto it = at<std::uint64_t>(raw, index);
      return it > std::uint64_t{most} ? most : static_cast<std::int64_t>(it);
    }
    default: PERIGEE_ASSERT(false, "not an integer");
  }
  return 0;
}

double value::real(std::size_t index) const {
  auto is = type == value_type::array ? element : type;
  if (is == value_type::f64)
    return at<double>(raw, index);
  PERIGEE_ASSERT(is == value_type::f32, "not a real number");
  return at<float>(raw, index);
}

std::string_view value::text() const {
  PERIGEE_ASSERT(type == value_type::string, "not a string");
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

} // namespace perigee::engine::gguf
