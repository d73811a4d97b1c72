#include "journal/packing.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace perigee::journal {
namespace {

constexpr std::size_t word_bytes = sizeof(capnp::word);
constexpr std::size_t run_max = 255; ///< Words that a count of one byte can tell.

using word_image = std::array<std::byte, word_bytes>;

word_image image_of(const capnp::word& word) {
  word_image all;
  std::memcpy(all.data(), &word, word_bytes);
  return all;
}

bool is_zero(const capnp::word& word) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &word, word_bytes);
  return bits == 0;
}

/// Whether it is better stored as it is.
bool is_dense(const capnp::word& word) {
  auto all = image_of(word);
  return std::count(all.begin(), all.end(), std::byte{0}) < 2;
}

/// Of the words at the front, how many are as `is` says, but run_max at most.
template <class Is>
std::size_t run_of(words_view words, Is is) {
  auto most = words.first(std::min(words.size(), run_max));
  auto end = std::find_if_not(most.begin(), most.end(), is);
  return static_cast<std::size_t>(end - most.begin());
}

/// The tag, with a bit for each byte that follows it. Returns the tag.
unsigned pack_word(const capnp::word& word, bytes& to) {
  auto all = image_of(word);
  auto tag_at = to.size();
  to.push_back({});
  unsigned tag = 0;
  for (std::size_t i = 0; i < word_bytes; ++i)
    if (all[i] != std::byte{0}) {
      tag |= 1u << i;
      to.push_back(all[i]);
    }
  to[tag_at] = static_cast<std::byte>(tag);
  return tag;
}

} // namespace

void pack(words_view words, bytes& to) {
  while (!words.empty()) {
    auto tag = pack_word(words.front(), to);
    words = words.subspan(1);
    if (tag == 0) {
      auto more = run_of(words, is_zero);
      to.push_back(static_cast<std::byte>(more));
      words = words.subspan(more);
    } else if (tag == 0xff) {
      auto more = run_of(words, is_dense);
      to.push_back(static_cast<std::byte>(more));
      auto plain = std::as_bytes(words.first(more));
      to.insert(to.end(), plain.begin(), plain.end());
      words = words.subspan(more);
    }
  }
}

bool unpack(bytes_view packed, std::span<capnp::word> words) {
  byte_reader from{packed};
  while (!words.empty()) {
    unsigned tag = from.byte();
    word_image all{};
    for (std::size_t i = 0; i < word_bytes; ++i)
      if ((tag & (1u << i)) != 0)
        all[i] = std::byte{from.byte()};
    std::memcpy(words.data(), all.data(), word_bytes);
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
