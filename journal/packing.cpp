#include "journal/packing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace perigee::journal {
namespace {

constexpr std::size_t word_bytes = sizeof(capnp::word);
constexpr std::size_t run_max = 255; ///< Words that a count of one byte can tell.

static_assert(std::endian::native == std::endian::little,
              "a word's first byte is its lowest");

std::uint64_t bits_of(const capnp::word& word) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &word, word_bytes);
  return bits;
}

bool is_zero(const capnp::word& word) {
  return bits_of(word) == 0;
}

/// A bit for each byte that is not zero, the first byte's lowest.
unsigned tag_of(std::uint64_t bits) {
  constexpr std::uint64_t low = 0x7f7f7f7f7f7f7f7f;
  auto tops = (((bits & low) + low) | bits) & ~low; // 0x80 where a byte is not zero
  return static_cast<unsigned>(((tops >> 7) * 0x0102040810204080) >> 56);
}

/// Whether it is better stored as it is.
bool is_dense(const capnp::word& word) {
  return std::popcount(tag_of(bits_of(word))) > 6;
}

/// Of the words at the front, how many are as `is` says, but run_max at most.
template <class Is>
std::size_t run_of(words_view words, Is is) {
  auto most = words.first(std::min(words.size(), run_max));
  auto end = std::find_if_not(most.begin(), most.end(), is);
  return static_cast<std::size_t>(end - most.begin());
}

/// Collects what is packed, so that `to` grows in larger steps than bytes.
class packer {
public:
  explicit packer(bytes& to) : to_(to) {}
  ~packer() {
    flush();
  }
  packer(const packer&) = delete;
  packer& operator=(const packer&) = delete;

  /// The tag, then the bytes that it has a bit for. Returns the tag.
  unsigned word(const capnp::word& one) {
    make_room(1 + word_bytes);
    auto bits = bits_of(one);
    auto tag = tag_of(bits);
    part_[used_++] = static_cast<std::byte>(tag);
    for (auto left = tag; left != 0; left &= left - 1)
      part_[used_++] = static_cast<std::byte>(bits >> (8 * std::countr_zero(left)));
    return tag;
  }

  void count(std::size_t words) {
    make_room(1);
    part_[used_++] = static_cast<std::byte>(words);
  }

  void plain(words_view words) {
    flush();
    auto all = std::as_bytes(words);
    to_.insert(to_.end(), all.begin(), all.end());
  }

private:
  void make_room(std::size_t more) {
    if (used_ + more > part_.size())
      flush();
  }

  void flush() {
    to_.insert(to_.end(), part_.begin(),
               part_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ = 0;
  }

  bytes& to_;
  std::array<std::byte, 512> part_;
  std::size_t used_ = 0;
};

} // namespace

void pack(words_view words, bytes& to) {
  packer out{to};
  while (!words.empty()) {
    auto tag = out.word(words.front());
    words = words.subspan(1);
    if (tag == 0) {
      auto more = run_of(words, is_zero);
      out.count(more);
      words = words.subspan(more);
    } else if (tag == 0xff) {
      auto more = run_of(words, is_dense);
      out.count(more);
      if (more > 0)
        out.plain(words.first(more));
      words = words.subspan(more);
    }
  }
}

bool unpack(bytes_view packed, std::span<capnp::word> words) {
  byte_reader from{packed};
  while (!words.empty()) {
    unsigned tag = from.byte();
    std::uint64_t bits = 0;
    for (auto left = tag; left != 0; left &= left - 1)
      bits |= std::uint64_t{from.byte()} << (8 * std::countr_zero(left));
    std::memcpy(static_cast<void*>(words.data()), &bits, word_bytes);
    words = words.subspan(1);
    if (tag != 0 && tag != 0xff)
      continue;
    std::size_t more = from.byte();
    if (!from.ok() || more > words.size())
      return false;
    if (tag == 0) {
      std::memset(words.data(), 0, more * word_bytes);
    } else {
      auto plain = from.raw(more * word_bytes);
      if (!plain.empty())
        std::memcpy(words.data(), plain.data(), plain.size());
    }
    words = words.subspan(more);
  }
  return from.ok() && from.is_at_end();
}

} // namespace perigee::journal
