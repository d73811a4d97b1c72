#include "tests/engine/gguf/gguf_writer.hpp"

#include <catch2/catch.hpp>

namespace perigee::engine::gguf {
namespace {

std::vector<std::byte> zeros(std::size_t size) {
  return std::vector<std::byte>(size);
}

gguf_writer small_file(std::uint32_t version = 3) {
  gguf_writer file(version);
  file.text("general.architecture", "llama")
    .number("llama.block_count", 2)
    .real("llama.epsilon", 1e-5F)
    .flag("tokenizer.add_bos", true)
    .texts("tokenizer.tokens", {"a", "", "\xf0\x9f\x98\x80"})
    .array<float>("tokenizer.scores", value_type::f32, {0.5F, -1.0F})
    .array<std::int32_t>("tokenizer.types", value_type::i32, {1, -3})
    .tensor("one", tensor_type::f32, {3, 2}, zeros(24))
    .tensor("two", tensor_type::q4_k, {256}, zeros(144));
  return file;
}

bad_input refused(const std::vector<std::byte>& bytes) {
  auto got = contents::read(bytes, "m.gguf");
  REQUIRE_FALSE(got);
  return got.error();
}

bad_input refused(const gguf_writer& file) {
  return refused(file.bytes());
}

TEST_CASE("a file of version 2 or 3 says what was written") {
  auto version = GENERATE(2U, 3U);
  auto bytes = small_file(version).bytes();
  auto got = contents::read(bytes, "m.gguf");
  REQUIRE(got);
  CHECK(got->version() == version);
  CHECK(got->text("general.architecture").value() == "llama");
  CHECK(got->number("llama.block_count").value() == 2);
  CHECK(got->real("llama.epsilon").value() == 1e-5F);
  CHECK(got->flag("tokenizer.add_bos", false).value());
  auto tokens = got->texts("tokenizer.tokens").value();
  CHECK(std::vector(tokens.begin(), tokens.end())
        == std::vector<std::string_view>{"a", "", "\xf0\x9f\x98\x80"});
  CHECK(got->reals("tokenizer.scores").value() == std::vector{0.5F, -1.0F});
  CHECK(got->numbers("tokenizer.types").value() == std::vector<std::int64_t>{1, -3});
  const auto* one = got->find("one");
  REQUIRE(one != nullptr);
  CHECK(one->columns() == 3);
  CHECK(one->rows() == 2);
  CHECK(one->data.size() == 24);
  CHECK(got->get("two", 256, 1).value()->type == tensor_type::q4_k);
}

TEST_CASE("tensors lie where the file says, aligned as it says") {
  auto alignment = GENERATE(8U, 32U, 4096U);
  gguf_writer file;
  std::vector<std::byte> data(24, std::byte{7});
  file.align(alignment)
    .tensor("a", tensor_type::f32, {6}, zeros(24))
    .tensor("b", tensor_type::f32, {6}, data);
  auto bytes = file.bytes();
  auto got = contents::read(bytes, "m.gguf");
  REQUIRE(got);
  const auto* b = got->find("b");
  CHECK(static_cast<std::size_t>(b->data.data() - bytes.data()) % alignment == 0);
  CHECK(std::equal(data.begin(), data.end(), b->data.begin()));
}

TEST_CASE("an integer of any type is a number unless it is negative") {
  gguf_writer file;
  file.put("u8", value_type::u8, std::uint8_t{255})
    .put("i16", value_type::i16, std::int16_t{-5})
    .put("u64", value_type::u64, ~std::uint64_t{0})
    .put("i64", value_type::i64, std::int64_t{1} << 40);
  auto bytes = file.bytes();
  auto got = contents::read(bytes, "m.gguf");
  REQUIRE(got);
  CHECK(got->number("u8").value() == 255);
  CHECK(got->number("i64").value() == std::uint64_t{1} << 40);
  CHECK(got->number("u64").value() == ~std::uint64_t{0} >> 1);
  CHECK(got->number("i16").error().code == file_fault::wrong_type);
}

TEST_CASE("a key that is missing is named with the nearest there is") {
  auto bytes = small_file().bytes();
  auto got = contents::read(bytes, "m.gguf");
  REQUIRE(got);
  auto why = got->number("lama.block_count").error();
  CHECK(why.code == file_fault::missing);
  CHECK(why.where == "m.gguf");
  CHECK(why.expected == "the key 'lama.block_count'");
  CHECK(why.nearest == "llama.block_count");
  CHECK(why.text()
        == "m.gguf: expected the key 'lama.block_count'; nearest: llama.block_count");
  CHECK(got->get("three").error().nearest.empty());
  CHECK(got->get("ona").error().nearest == "one");
}

TEST_CASE("a fallback stands in for an absent key, never for a wrong one") {
  auto bytes = small_file().bytes();
  auto got = contents::read(bytes, "m.gguf");
  REQUIRE(got);
  CHECK(got->number("absent", 7).value() == 7);
  CHECK(got->real("absent", 0.5).value() == 0.5);
  CHECK(got->text("absent", "x").value() == "x");
  CHECK_FALSE(got->flag("absent", false).value());
  CHECK(got->number("general.architecture", 7).error().text()
        == "m.gguf: key 'general.architecture': expected an integer, found string");
  CHECK(got->real("llama.block_count", 1.0).error().code == file_fault::wrong_type);
  CHECK(got->flag("llama.block_count", true).error().code == file_fault::wrong_type);
  CHECK(got->text("tokenizer.tokens", "x").error().code == file_fault::wrong_type);
  CHECK(
    got->texts("tokenizer.scores").error().text()
    == "m.gguf: key 'tokenizer.scores': expected an array of strings, found an array "
       "of f32");
  CHECK(got->numbers("tokenizer.scores").error().code == file_fault::wrong_type);
  CHECK(got->reals("tokenizer.types").error().code == file_fault::wrong_type);
}

TEST_CASE("a tensor of another shape is refused with both") {
  auto bytes = small_file().bytes();
  auto got = contents::read(bytes, "m.gguf");
  REQUIRE(got);
  CHECK(got->get("one", 2, 3).error().text()
        == "m.gguf: tensor 'one': expected 2 x 3, found 3 x 2");
}

TEST_CASE("what is no GGUF file, or another version's, is refused") {
  CHECK(refused(zeros(64)).expected == "\"GGUF\": this is not a GGUF file");
  CHECK(refused(gguf_writer(1)).expected == "2 or 3, found 1");
  CHECK(refused(gguf_writer(4)).code == file_fault::unsupported);
  CHECK(refused(gguf_writer(0x03000000)).expected
        == "little-endian numbers, found big-endian ones");
}

TEST_CASE("keys and tensors may not come twice") {
  gguf_writer keys;
  keys.number("a", 1).number("a", 1);
  CHECK(refused(keys).text() == "m.gguf: key 'a', byte 41: expected each key once");
  gguf_writer tensors;
  tensors.tensor("t", tensor_type::f32, {1}, zeros(4))
    .tensor("t", tensor_type::f32, {1}, zeros(4));
  CHECK(refused(tensors).expected == "each tensor once");
}

TEST_CASE("names must not be empty, and are printed without control characters") {
  gguf_writer empty;
  empty.number("", 1);
  CHECK(refused(empty).expected == "a name");
  gguf_writer ugly;
  ugly.put("a\nb\x1b", static_cast<value_type>(13), std::uint8_t{0});
  CHECK(refused(ugly).where == "m.gguf: type of key 'a?b?', byte 36");
}

TEST_CASE("an alignment is a power of two within bounds") {
  auto alignment = GENERATE(0U, 1U, 4U, 24U, 2097152U);
  gguf_writer file;
  file.number("general.alignment", alignment);
  CHECK(refused(file).where == "m.gguf: key 'general.alignment'");
}

TEST_CASE("booleans are 0 or 1") {
  gguf_writer file;
  file.put("f", value_type::boolean, std::uint8_t{2});
  CHECK(refused(file).expected == "a boolean, 0 or 1");
}

TEST_CASE("arrays of arrays are passed over, and have a depth") {
  gguf_writer flat;
  auto& to = flat.begin_array("nested", value_type::array, 2);
  for (int i = 0; i < 2; ++i) {
    to.put(static_cast<std::uint32_t>(value_type::u16));
    to.put(std::uint64_t{1});
    to.put(std::uint16_t{9});
  }
  flat.number("after", 5);
  auto bytes = flat.bytes();
  auto got = contents::read(bytes, "m.gguf");
  REQUIRE(got);
  CHECK(got->number("after").value() == 5);
  CHECK(got->numbers("nested").error().code == file_fault::wrong_type);

  gguf_writer deep;
  auto& down = deep.begin_array("deep", value_type::array, 1);
  for (int i = 0; i < 1000; ++i) {
    down.put(static_cast<std::uint32_t>(value_type::array));
    down.put(std::uint64_t{1});
  }
  CHECK(refused(deep).expected == "arrays at most 4 deep");
}

TEST_CASE("a type of tensor that we don't read is refused by name") {
  gguf_writer known;
  known.describe("t", 16, {256}, 0);
  auto why = refused(known);
  CHECK(why.code == file_fault::unsupported);
  CHECK(why.where == "m.gguf: tensor 't', byte 45");
  CHECK_THAT(why.expected, Catch::EndsWith("found IQ2_XXS"));
  gguf_writer unknown;
  unknown.describe("t", 4711, {256}, 0);
  CHECK_THAT(refused(unknown).expected, Catch::EndsWith("found number 4711"));
}

TEST_CASE("tensors have a shape that can be, of whole blocks") {
  auto shape = [](std::vector<std::uint64_t> extents, tensor_type type) {
    gguf_writer file;
    file.describe("t", static_cast<std::uint32_t>(type), extents, 0);
    return refused(file).where;
  };
  constexpr auto huge = std::uint64_t{1} << 62;
  CHECK(shape({1, 1, 1, 1, 1}, tensor_type::f32)
        == "m.gguf: dimensions of tensor 't', byte 33");
  CHECK(shape({4, 0}, tensor_type::f32) == "m.gguf: extent 1 of tensor 't', byte 45");
  CHECK(shape({huge, 4}, tensor_type::f32)
        == "m.gguf: extent 0 of tensor 't', byte 37");
  CHECK(shape({std::uint64_t{1} << 33, std::uint64_t{1} << 33}, tensor_type::f32)
        == "m.gguf: extent 1 of tensor 't', byte 45");
  CHECK(shape({33}, tensor_type::q4_0) == "m.gguf: tensor 't', byte 45");
}

TEST_CASE("tensors lie aligned, inside the file, and beside each other") {
  gguf_writer ragged;
  ragged.describe("t", 0, {1}, 4);
  CHECK_THAT(refused(ragged).expected,
             Catch::StartsWith("an offset that is a multiple"));

  gguf_writer outside;
  outside.tensor("a", tensor_type::f32, {8}, zeros(32)).describe("b", 0, {8}, 32);
  CHECK(refused(outside).expected
        == "32 bytes at offset 32, but there are only 32 bytes of tensors");
  gguf_writer far;
  far.tensor("a", tensor_type::f32, {8}, zeros(32))
    .describe("b", 0, {8}, ~std::uint64_t{31});
  CHECK_THAT(refused(far).expected, Catch::StartsWith("32 bytes at offset"));

  gguf_writer shared;
  shared.tensor("a", tensor_type::f32, {16}, zeros(64)).describe("b", 0, {8}, 32);
  CHECK(refused(shared).expected == "bytes of its own, but it overlaps tensor 'a'");
}

TEST_CASE("counts that the file can't hold allocate nothing") {
  constexpr auto many = ~std::uint64_t{0};
  auto counts = [](std::uint64_t tensors, std::uint64_t values) {
    byte_writer file;
    file.put_bytes(std::as_bytes(std::span{"GGUF", 4}));
    file.put(std::uint32_t{3});
    file.put(tensors);
    file.put(values);
    return refused(file.all()).where;
  };
  CHECK(counts(many, 0) == "m.gguf: number of tensors, byte 8");
  CHECK(counts(0, many) == "m.gguf: number of keys, byte 16");
  CHECK(counts(0, 60000) == "m.gguf: key, byte 24");

  for (auto element : {value_type::u8, value_type::f64, value_type::string}) {
    gguf_writer file;
    file.begin_array("a", element, many);
    CHECK(refused(file).where == "m.gguf: key 'a', byte 49");
  }
  gguf_writer nested; // whose first element is an empty array: the file's padding
  nested.begin_array("a", value_type::array, many);
  CHECK(refused(nested).where == "m.gguf: type of an element of key 'a', byte 61");
  gguf_writer text;
  text.begin("a", value_type::string).put(many);
  CHECK(refused(text).where == "m.gguf: length of the string of key 'a', byte 37");
}

} // namespace
} // namespace perigee::engine::gguf
