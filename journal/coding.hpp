/// \file
/// Numbers and texts as bytes, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace perigee::journal {

using bytes = std::vector<std::byte>;
using bytes_view = std::span<const std::byte>;

/// Appends to `to`, which outlives it.
class byte_writer {
public:
  explicit byte_writer(bytes& to) : to_(to) {}

  void byte(std::uint8_t x) {
    to_.push_back(std::byte{x});
  }
  /// LEB128: one byte for each seven bits.
  void number(std::uint64_t x);
  /// As number(), with small ones small on both sides of 0.
  void signed_number(std::int64_t x) {
    auto bits = static_cast<std::uint64_t>(x);
    number((bits << 1) ^ (x < 0 ? ~std::uint64_t{0} : 0));
  }
  void fixed32(std::uint32_t x);
  void fixed64(std::uint64_t x);
  /// Its length, then at most text_bytes_max of it.
  void text(std::string_view x);
  void raw(bytes_view x) {
    to_.insert(to_.end(), x.begin(), x.end());
  }

private:
  bytes& to_;
};

/// Reads what byte_writer wrote. Past the end, or after what cannot be, everything
/// reads as 0 or empty, and ok() is false from then on.
class byte_reader {
public:
  explicit byte_reader(bytes_view from) : rest_(from) {}

  bool ok() const {
    return ok_;
  }
  bool is_at_end() const {
    return rest_.empty();
  }
  std::size_t left() const {
    return rest_.size();
  }

  std::uint8_t byte();
  std::uint64_t number();
  std::int64_t signed_number() {
    auto bits = number();
    auto sign = (bits & 1) != 0 ? ~std::uint64_t{0} : 0;
    return static_cast<std::int64_t>((bits >> 1) ^ sign);
  }
  std::uint32_t fixed32();
  std::uint64_t fixed64();
  /// Points into what is read.
  std::string_view text();
  bytes_view raw(std::uint64_t count);

private:
  bytes_view rest_;
  bool ok_ = true;
};

} // namespace perigee::journal
