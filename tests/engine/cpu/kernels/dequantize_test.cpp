#include "engine/cpu/kernels/dequantize.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace perigee::engine::cpu {
namespace {

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    all.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return all;
}

gguf::tensor_type type_named(const std::string& name) {
  for (std::uint32_t code = 0; code < 64; ++code)
    if (auto type = gguf::known_type(code); type && name == gguf::name_of(*type))
      return *type;
  FAIL("no type " << name);
  return {};
}

// Lines "TYPE bytes floats", both in hexadecimal; made by
// tools/golden/dequantize.py.
TEST_CASE("blocks of every type hold the numbers that PyPI's gguf finds in them") {
  std::ifstream file(PERIGEE_SOURCE_DIR
                     "/tests/engine/cpu/kernels/golden/dequantize.txt");
  REQUIRE(file.good());
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    std::istringstream words(line);
    std::string name, source, numbers;
    words >> name >> source >> numbers;
    auto bytes = from_hex(source);
    auto expected = from_hex(numbers);
    auto got
      = dequantized(type_named(name), bytes.data(), expected.size() / sizeof(float));
    INFO(name << ", line " << lines + 1);
    CHECK(std::memcmp(got.data(), expected.data(), expected.size()) == 0);
  }
  CHECK(lines == 33);
}

} // namespace
} // namespace perigee::engine::cpu
