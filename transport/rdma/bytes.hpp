/// \file
/// Little-endian numbers into bytes, and out of bytes that a stranger has sent.
#pragma once

#include "transport/streams/little_endian.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace perigee::transport::rdma {

class byte_writer {
public:
  template <std::unsigned_integral T>
  void put(T number) {
    std::array<std::byte, sizeof(T)> octets;
    streams::put_number(octets.data(), number);
    put(octets);
  }

  template <class T, std::size_t Size>
  void put(const std::array<T, Size>& octets) {
    static_assert(sizeof(T) == 1);
    for (auto one : octets)
      bytes_.push_back(static_cast<std::byte>(one));
  }

  std::vector<std::byte>& bytes() {
    return bytes_;
  }

private:
  std::vector<std::byte> bytes_;
};

/// Reads what is there; zeros, and not whole(), past the end.
class byte_reader {
public:
  explicit byte_reader(std::span<const std::byte> from) : rest_(from) {}

  template <std::unsigned_integral T>
  T get() {
    std::array<std::byte, sizeof(T)> octets;
    get(octets);
    return streams::get_number<T>(octets.data());
  }

  template <class T, std::size_t Size>
  void get(std::array<T, Size>& octets) {
    static_assert(sizeof(T) == 1);
    for (auto& one : octets)
      one = static_cast<T>(next());
  }

  /// All was there, and nothing is left.
  bool whole() const {
    return !short_ && rest_.empty();
  }

private:
  std::uint8_t next() {
    if (rest_.empty()) {
      short_ = true;
      return 0;
    }
    auto one = std::to_integer<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return one;
  }

  std::span<const std::byte> rest_;
  bool short_ = false;
};

} // namespace perigee::transport::rdma
