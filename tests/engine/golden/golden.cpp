#include "tests/engine/golden/golden.hpp"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

namespace perigee::engine::golden {

namespace {

/// Little-endian fields, one after another.
class field_reader {
public:
  explicit field_reader(const std::string& path) : path_(path) {
    std::ifstream file{std::string{PERIGEE_SOURCE_DIR "/tests/engine/golden/"} + path,
                       std::ios::binary};
    if (!file)
      throw std::runtime_error{path + ": can't be read"};
    bytes_.assign(std::istreambuf_iterator<char>{file}, {});
  }

  std::uint32_t number() {
    std::uint32_t value = 0;
    std::memcpy(&value, take(4).data(), 4);
    return value;
  }

  /// How many things of `each` bytes follow: no more than there is room for.
  std::uint32_t count(std::size_t each) {
    const std::uint32_t many = number();
    if (many * each > bytes_.size() - at_)
      throw std::runtime_error{path_ + ": cut off at byte " + std::to_string(at_)};
    return many;
  }

  std::string text() {
    const auto bytes = take(count(1));
    return {bytes.begin(), bytes.end()};
  }

  template <class T>
  std::vector<T> list(std::size_t many) {
    std::vector<T> values(many);
    const auto bytes = take(many * sizeof(T));
    if (many > 0)
      std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  scored_tokens scored(std::size_t many) {
    const auto tokens = list<std::uint32_t>(many);
    const auto logprobs = list<float>(many);
    scored_tokens read;
    for (std::size_t i = 0; i < many; ++i)
      read.push_back({tokens[i], logprobs[i]});
    return read;
  }

  void expect(std::uint32_t magic) {
    if (number() != magic)
      throw std::runtime_error{path_ + ": not a golden file of this kind"};
  }

  void expect_end() const {
    if (at_ != bytes_.size())
      throw std::runtime_error{path_ + ": bytes behind the end"};
  }

private:
  std::span<const char> take(std::size_t many) {
    if (many > bytes_.size() - at_)
      throw std::runtime_error{path_ + ": cut off at byte " + std::to_string(at_)};
    at_ += many;
    return std::span{bytes_}.subspan(at_ - many, many);
  }

  std::string path_;
  std::vector<char> bytes_;
  std::size_t at_ = 0;
};

constexpr std::uint32_t model_magic = 0x314D4750;  // "PGM1"
constexpr std::uint32_t blocks_magic = 0x31424750; // "PGB1"

prompt read_prompt(field_reader& in) {
  prompt read;
  read.name = in.text();
  read.tokens = in.list<token_id>(in.count(sizeof(token_id)));
  const std::uint32_t scored = in.count(1);
  for (std::size_t i = 0; i < read.tokens.size(); ++i)
    read.likeliest.push_back(in.scored(scored));
  const std::uint32_t steps = in.count(1);
  const std::uint32_t scored_in_step = in.count(1);
  for (std::uint32_t i = 0; i < steps; ++i) {
    read.greedy_likeliest.push_back(in.scored(scored_in_step));
    read.greedy.push_back(read.greedy_likeliest.back().at(0).token);
  }
  return read;
}

} // namespace

model read_model(const std::string& path) {
  field_reader in{path};
  in.expect(model_magic);
  model read;
  read.name = in.text();
  const std::uint32_t prompts = in.count(1);
  for (std::uint32_t i = 0; i < prompts; ++i)
    read.prompts.push_back(read_prompt(in));
  in.expect_end();
  return read;
}

std::vector<blocks> read_blocks() {
  field_reader in{"blocks.golden"};
  in.expect(blocks_magic);
  std::vector<blocks> read(in.count(1));
  for (blocks& one : read) {
    one.type = in.text();
    one.bytes = in.list<std::uint8_t>(in.count(1));
    one.values = in.list<float>(in.count(sizeof(float)));
  }
  in.expect_end();
  return read;
}

} // namespace perigee::engine::golden
