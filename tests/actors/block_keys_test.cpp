#include "actors/block_keys.hpp"

#include <catch2/catch.hpp>

#include <numeric>
#include <set>

namespace perigee {
namespace {

std::vector<std::uint32_t> counting(std::uint32_t n) {
  std::vector<std::uint32_t> tokens(n);
  std::iota(tokens.begin(), tokens.end(), 0u);
  return tokens;
}

TEST_CASE("a chain's keys are those of its blocks, one after the other") {
  auto root = root_key({});
  auto tokens = counting(50);
  auto keys = keys_of(root, tokens, 16);
  REQUIRE(keys.size() == 3); // the partial block has none
  auto last = root;
  for (std::size_t i = 0; i < 3; ++i) {
    last = next_key(last, std::span{tokens}.subspan(16 * i, 16));
    CHECK(keys[i] == last);
  }
}

TEST_CASE("equal prefixes have equal keys, and no others do") {
  auto root = root_key({});
  auto one = counting(64), other = one;
  other[40] = 7;
  auto a = keys_of(root, one, 16), b = keys_of(root, other, 16);
  CHECK(a[0] == b[0]);
  CHECK(a[1] == b[1]);
  CHECK(a[2] != b[2]);
  CHECK(a[3] != b[3]); // the same tokens, after others
}

TEST_CASE("what could make the bytes of KV differ makes the root differ") {
  key_root base;
  std::set<block_key> roots{root_key(base)};
  auto other = [&](auto change) {
    auto changed = base;
    change(changed);
    roots.insert(root_key(changed));
  };
  other([](auto& r) { r.model_digest[31] = std::byte{1}; });
  other([](auto& r) { r.kv_element_bytes = 4; });
  other([](auto& r) { r.block_tokens = 512; });
  other([](auto& r) { r.layers = 1; });
  other([](auto& r) { r.heads = 1; });
  other([](auto& r) { r.head_dim = 1; });
  other([](auto& r) { r.salt = "tenant"; });
  CHECK(roots.size() == 8);
}

TEST_CASE("every process derives the same key") {
  // By Python: sha256(b"\0" * 16 + b"".join(i.to_bytes(4, "little") for i in
  // range(16))).
  auto key = next_key({}, counting(16));
  CHECK(key.high == 0xd4b9dcf57372f341u);
  CHECK(key.low == 0xed82d3201c54f817u);
}

} // namespace
} // namespace perigee
