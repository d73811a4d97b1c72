#include "engine/tokenizer/vocabulary_file.hpp"

#include "tests/engine/tokenizer/golden_texts.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>

namespace perigee::engine {

namespace {

/// A model file's bytes, aligned, to be read after something in them was replaced.
class altered_file {
public:
  explicit altered_file(const std::string& name) {
    std::ifstream file{PERIGEE_SOURCE_DIR "/tests/engine/tokenizer/golden/" + name,
                       std::ios::binary};
    REQUIRE(file);
    bytes_.assign(std::istreambuf_iterator<char>{file}, {});
  }

  /// Both of one length.
  altered_file& replace(std::string_view old, std::string_view fresh) {
    const std::size_t at = bytes_.find(old);
    REQUIRE(at != std::string::npos);
    REQUIRE(old.size() == fresh.size());
    bytes_.replace(at, old.size(), fresh);
    return *this;
  }

  /// What is wrong, in one line; nothing if a tokenizer could be made.
  std::string fault() const {
    std::vector<std::uint64_t> words(bytes_.size() / 8 + 1);
    std::memcpy(words.data(), bytes_.data(), bytes_.size());
    const auto file
      = gguf::contents::read(std::as_bytes(std::span{words}).first(bytes_.size()), "m");
    REQUIRE(file);
    const auto made = read_tokenizer(*file);
    return made ? "" : made.error().text();
  }

private:
  std::string bytes_;
};

} // namespace

TEST_CASE("what a file says of its vocabulary is read", "[vocabulary_file]") {
  const auto file = gguf::file::open(PERIGEE_SOURCE_DIR
                                     "/tests/engine/tokenizer/golden/tiny-llama.gguf");
  REQUIRE(file);
  const auto words = read_vocabulary(**file);
  REQUIRE(words);
  CHECK(words->model == "llama");
  CHECK(words->pre == "default");
  CHECK(words->tokens[0] == "<unk>");
  CHECK(words->scores.size() == words->tokens.size());
  CHECK(words->token_type[0] == token_kind::unknown);
  CHECK(words->token_type[3] == token_kind::byte);
  CHECK(words->merges.empty());
  CHECK(words->bos_token_id == 1U);
  CHECK(words->unknown_token_id == 0U);
  CHECK(words->eot_token_id == std::nullopt);
  CHECK(words->add_bos_token == std::nullopt);
}

TEST_CASE("a file whose vocabulary isn't supported is refused by name",
          "[vocabulary_file]") {
  CHECK(altered_file{"tiny-qwen2.gguf"}.fault().empty());
  const auto pre = altered_file{"tiny-qwen2.gguf"}.replace("qwen2", "qwen9").fault();
  CHECK(pre.find("qwen9") != std::string::npos);
  CHECK(pre.find("gpt-2, smollm, llama-bpe, qwen2") != std::string::npos);
  const auto model = altered_file{"tiny-qwen2.gguf"}.replace("gpt2", "gptX").fault();
  CHECK(model.find("gptX") != std::string::npos);
  CHECK(model.find("gpt2, llama") != std::string::npos);
}

TEST_CASE("a key that is missing is named", "[vocabulary_file]") {
  for (const char* key : {"model", "tokens", "merges"}) {
    std::string spoilt = key;
    spoilt[0] = 'X';
    const std::string prefix = "tokenizer.ggml.";
    const auto fault
      = altered_file{"tiny-gpt-2.gguf"}.replace(prefix + key, prefix + spoilt).fault();
    INFO(fault);
    CHECK(fault.find(prefix + key) != std::string::npos);
  }
}

} // namespace perigee::engine
