// Every tokenizer against llama.cpp, on a corpus of texts that tokenizers stumble over.
#include "engine/tokenizer/vocabulary_file.hpp"
#include "tests/engine/tokenizer/golden_texts.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <iostream>

namespace perigee::engine {

namespace {

struct subject {
  const char* golden;
  std::string file;
};

const subject subjects[] = {
  {"tiny-smollm", "tests/engine/tokenizer/golden/tiny-smollm.gguf"},
  {"tiny-gpt-2", "tests/engine/tokenizer/golden/tiny-gpt-2.gguf"},
  {"tiny-llama-bpe", "tests/engine/tokenizer/golden/tiny-llama-bpe.gguf"},
  {"tiny-qwen2", "tests/engine/tokenizer/golden/tiny-qwen2.gguf"},
  {"tiny-llama", "tests/engine/tokenizer/golden/tiny-llama.gguf"},
  {"smollm2", "models/SmolLM2-135M-Instruct.Q4_1.gguf"},
  {"gemma3", "models/gemma-3-270m-Q4_K_M.gguf"},
};

/// Null, after saying so, if the model is one to be fetched and was not.
std::shared_ptr<const tokenizer> read(const subject& one) {
  const std::string path = std::string{PERIGEE_SOURCE_DIR "/"} + one.file;
  if (one.file.starts_with("models/") && !std::filesystem::exists(path)) {
    std::cout << "SKIPPED: " << one.file << " is not there; tools/fetch_model.sh\n";
    return nullptr;
  }
  const auto file = gguf::file::open(path);
  INFO((file ? "" : file.error().text()));
  REQUIRE(file);
  auto made = read_tokenizer(**file);
  INFO((made ? "" : made.error().text()));
  REQUIRE(made);
  return *made;
}

std::vector<token_id> encode(const tokenizer& words, const std::string& text,
                             bool means_structure) {
  const segment all{text, means_structure};
  const auto tokens = words.encode(std::span{&all, 1});
  REQUIRE(tokens);
  return *tokens;
}

/// llama.cpp adds a BOS to one that is written in the text.
std::vector<token_id> with_one_bos(const tokenizer& words,
                                   std::vector<token_id> tokens) {
  if (words.adds_bos() && tokens.size() > 1 && tokens[1] == words.bos())
    tokens.erase(tokens.begin());
  return tokens;
}

// llama.cpp takes `</s>` for the end of text in every vocabulary. For Gemma it is a tag
// of HTML: the file calls it user-defined.
bool is_known_to_differ(const subject& one, const std::string& text) {
  return one.golden == std::string{"gemma3"} && text.find("</s>") != std::string::npos;
}

} // namespace

TEST_CASE("token ids are llama.cpp's, whatever the text", "[tokenizer]") {
  for (const subject& one : subjects) {
    const auto words = read(one);
    if (!words)
      continue;
    for (const auto& golden : golden::read_tokenized_texts(one.golden)) {
      INFO(one.golden << ": '" << golden.text << "'");
      if (!is_known_to_differ(one, golden.text))
        CHECK(encode(*words, golden.text, false) == golden.plain);
      CHECK(encode(*words, golden.text, true) == with_one_bos(*words, golden.parsed));
    }
  }
}

TEST_CASE("what tokens say is what llama.cpp says", "[tokenizer]") {
  for (const subject& one : subjects) {
    const auto words = read(one);
    if (!words)
      continue;
    for (const auto& golden : golden::read_tokenized_texts(one.golden)) {
      INFO(one.golden << ": '" << golden.text << "'");
      std::string shown;
      for (const token_id token : golden.parsed)
        shown += words->piece(token, control::shown);
      CHECK(shown == golden.shown);
      CHECK(words->decode(golden.plain) == golden.decoded);
    }
  }
}

TEST_CASE("an HTML tag that llama.cpp takes for an end is the tag it is",
          "[tokenizer]") {
  const auto gemma = read(subjects[6]);
  if (!gemma)
    return;
  CHECK(encode(*gemma, "<s>x</s>", false)
        == std::vector<token_id>{2, 203, 236781, 212});
  CHECK_FALSE(gemma->is_end(212));
}

} // namespace perigee::engine
