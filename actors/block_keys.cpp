#include "actors/block_keys.hpp"

#include "schemas/assert.hpp"

#include <openssl/sha.h>

#include <cstring>
#include <vector>

namespace perigee {
namespace {

class preimage {
public:
  void number(std::uint64_t x, int bytes) {
    for (int i = 0; i < bytes; ++i)
      bytes_.push_back(static_cast<unsigned char>(x >> (8 * i)));
  }

  void text(const void* data, std::size_t size) {
    number(size, 8);
    auto* from = static_cast<const unsigned char*>(data);
    bytes_.insert(bytes_.end(), from, from + size);
  }

  block_key hash() const {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256(bytes_.data(), bytes_.size(), digest);
    return {word(digest), word(digest + 8)};
  }

  void reserve(std::size_t bytes) {
    bytes_.reserve(bytes);
  }

private:
  static std::uint64_t word(const unsigned char* at) {
    std::uint64_t x = 0;
    for (int i = 7; i >= 0; --i)
      x = x << 8 | at[i];
    return x;
  }

  std::vector<unsigned char> bytes_;
};

} // namespace

block_key root_key(const key_root& of) {
  preimage image;
  image.text("perigee-kv-1", 12);
  image.text(of.model_digest.data(), of.model_digest.size());
  for (auto x :
       {of.kv_element_bytes, of.block_tokens, of.layers, of.heads, of.head_dim})
    image.number(x, 4);
  image.text(of.salt.data(), of.salt.size());
  return image.hash();
}

block_key next_key(const block_key& parent, std::span<const std::uint32_t> tokens) {
  preimage image;
  image.reserve(16 + 4 * tokens.size());
  image.number(parent.high, 8);
  image.number(parent.low, 8);
  for (auto token : tokens)
    image.number(token, 4);
  return image.hash();
}

block_chain keys_of(const block_key& parent, std::span<const std::uint32_t> tokens,
                    std::uint32_t block_tokens) {
  PERIGEE_ASSERT(block_tokens > 0, "blocks of no tokens");
  block_chain keys;
  keys.reserve(tokens.size() / block_tokens);
  auto last = parent;
  for (std::size_t at = 0; at + block_tokens <= tokens.size(); at += block_tokens)
    keys.push_back(last = next_key(last, tokens.subspan(at, block_tokens)));
  return keys;
}

} // namespace perigee
