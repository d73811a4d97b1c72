#include "journal/coding.hpp"

#include "journal/format.hpp"

namespace perigee::journal {

void byte_writer::number(std::uint64_t x) {
  for (; x >= 0x80; x >>= 7)
    byte(static_cast<std::uint8_t>(x | 0x80));
  byte(static_cast<std::uint8_t>(x));
}

void byte_writer::fixed32(std::uint32_t x) {
  for (int shift = 0; shift < 32; shift += 8)
    byte(static_cast<std::uint8_t>(x >> shift));
}

void byte_writer::fixed64(std::uint64_t x) {
  fixed32(static_cast<std::uint32_t>(x));
  fixed32(static_cast<std::uint32_t>(x >> 32));
}

void byte_writer::text(std::string_view x) {
  x = x.substr(0, text_bytes_max);
  number(x.size());
  raw(std::as_bytes(std::span{x.data(), x.size()}));
}

bytes_view byte_reader::raw(std::uint64_t count) {
  if (count > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  auto first = rest_.first(static_cast<std::size_t>(count));
  rest_ = rest_.subspan(first.size());
  return first;
}

std::uint8_t byte_reader::byte() {
  auto one = raw(1);
  return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one[0]);
}

std::uint64_t byte_reader::number() {
  std::uint64_t x = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    auto part = byte();
    x |= std::uint64_t{part & 0x7fu} << shift;
    if (part < 0x80) {
      if (shift == 63 && part > 1) // more than 64 bits
        break;
      return x;
    }
  }
  ok_ = false;
  rest_ = {};
  return 0;
}

std::uint32_t byte_reader::fixed32() {
  std::uint32_t x = 0;
  for (int shift = 0; shift < 32; shift += 8)
    x |= std::uint32_t{byte()} << shift;
  return x;
}

std::uint64_t byte_reader::fixed64() {
  std::uint64_t low = fixed32();
  return low | (std::uint64_t{fixed32()} << 32);
}

std::string_view byte_reader::text() {
  auto size = number();
  if (size > text_bytes_max) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  auto all = raw(size);
  return {reinterpret_cast<const char*>(all.data()), all.size()};
}

} // namespace perigee::journal
