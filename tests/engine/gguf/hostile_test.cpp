#include "tests/engine/gguf/gguf_writer.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace perigee::engine::gguf {
namespace {

// Every kind of value, and two tensors.
std::vector<std::byte> rich_file() {
  std::vector<std::byte> data(64);
  gguf_writer file;
  file.align(32)
    .text("general.architecture", "llama")
    .put("i8", value_type::i8, std::int8_t{-1})
    .put("f64", value_type::f64, 0.25)
    .flag("flag", true)
    .texts("tokens", {"a", "bc"})
    .array<std::uint64_t>("ids", value_type::u64, {1, 2});
  auto& nested = file.begin_array("nested", value_type::array, 1);
  nested.put(static_cast<std::uint32_t>(value_type::string));
  nested.put(std::uint64_t{1});
  nested.put_text("x");
  file.tensor("a", tensor_type::f16, {4, 2}, std::span(data).first(16))
    .tensor("b", tensor_type::q8_0, {32}, std::span(data).first(34));
  return file.bytes();
}

// Looks at every byte that the contents point to: a sanitizer sees what lies outside.
std::size_t touch_all(const contents& it) {
  std::size_t sum = 0;
  auto touch = [&](std::span<const std::byte> raw) {
    for (auto one : raw)
      sum += static_cast<std::size_t>(one);
  };
  for (const auto& [key, value] : it.values()) {
    touch(std::as_bytes(std::span(key)));
    touch(value.raw);
    for (auto text : value.strings)
      touch(std::as_bytes(std::span(text)));
  }
  for (const auto& tensor : it.tensors())
    touch(tensor.data);
  return sum;
}

// In memory of exactly this size.
bool is_read(std::span<const std::byte> bytes) {
  std::vector<std::byte> exact(bytes.begin(), bytes.end());
  auto got = contents::read(exact, "m.gguf");
  if (got)
    touch_all(*got);
  else
    CHECK_FALSE(got.error().expected.empty());
  return got.has_value();
}

TEST_CASE("a file cut short anywhere is refused") {
  auto whole = rich_file();
  REQUIRE(is_read(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(is_read(std::span(whole).first(size)));
}

TEST_CASE("a file with any bit flipped is read within its bounds or refused") {
  auto whole = rich_file();
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    auto flipped = whole;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    refused += is_read(flipped) ? 0 : 1;
  }
  CHECK(refused > whole.size());
}

TEST_CASE("a file with words replaced is read within its bounds or refused") {
  auto whole = rich_file();
  std::mt19937 random(5);
  constexpr std::uint64_t words[]{0,
                                  1,
                                  0x7fffffff,
                                  0x80000000,
                                  ~std::uint64_t{0},
                                  std::uint64_t{1} << 63,
                                  std::uint64_t{1} << 32};
  for (int i = 0; i < 20000; ++i) {
    auto changed = whole;
    for (int k = 0; k < 2; ++k) {
      auto word = words[random() % std::size(words)];
      auto size = random() % 2 == 0 ? 4 : 8;
      std::memcpy(changed.data() + random() % (whole.size() - 8), &word,
                  static_cast<std::size_t>(size));
    }
    is_read(changed);
  }
}

} // namespace
} // namespace perigee::engine::gguf
