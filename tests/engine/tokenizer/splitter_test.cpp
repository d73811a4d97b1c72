#include "engine/tokenizer/splitter.hpp"

#include "engine/tokenizer/utf8.hpp"
#include "tests/engine/tokenizer/golden_texts.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace perigee::engine {

namespace {

using words = std::vector<std::string>;

words split(std::string_view rule, std::string_view text) {
  const splitter cut{*find_split_rule(rule)};
  words found;
  REQUIRE(cut.split(text, [&](std::string_view word) { found.emplace_back(word); }));
  return found;
}

} // namespace

TEST_CASE("each rule cuts words its own way", "[splitter]") {
  const char* text = "I'LL say it's 1234 times:\n\n  x";
  CHECK(split("gpt-2", text)
        == words{"I", "'", "LL", " say", " it", "'s", " 1234", " times", ":", "\n\n ",
                 " x"});
  CHECK(split("smollm", text)
        == words{"I", "'", "LL", " say", " it", "'s", " ", "1", "2", "3", "4", " times",
                 ":", "\n\n ", " x"});
  CHECK(split("llama-bpe", text)
        == words{"I", "'LL", " say", " it", "'s", " ", "123", "4", " times", ":\n\n",
                 " ", " x"});
  CHECK(split("qwen2", text)
        == words{"I", "'LL", " say", " it", "'s", " ", "1", "2", "3", "4", " times",
                 ":\n\n", " ", " x"});
}

TEST_CASE("letters, digits and spaces are Unicode's, whatever PCRE2 knows",
          "[splitter]") {
  CHECK(split("gpt-2", "a\U00031350\U0002EBF0b") == words{"a\U00031350\U0002EBF0b"});
  CHECK(split("gpt-2", "1\U00011F50") == words{"1\U00011F50"});
  CHECK(split("gpt-2", "a\u180Eb") == words{"a", "\u180E", "b"});
  CHECK(split("gpt-2", "a\u0085\u3000b") == words{"a", "\u0085", "\u3000", "b"});
  CHECK(split("llama-bpe", "'\u017F") == words{"'\u017F"});
}

TEST_CASE("the words are all of the text", "[splitter]") {
  for (const split_rule& rule : split_rules()) {
    const splitter cut{rule};
    for (const std::string& text : golden::read_corpus()) {
      const std::string clean = healed(text);
      std::string together;
      REQUIRE(cut.split(clean, [&](std::string_view word) {
        REQUIRE_FALSE(word.empty());
        together += word;
      }));
      CHECK(together == clean);
    }
  }
}

TEST_CASE("a text that takes too many steps is given up", "[splitter]") {
  const splitter hasty{*find_split_rule("gpt-2"), 1};
  const std::string spaces = std::string(10000, ' ') + "x";
  CHECK_FALSE(hasty.split(spaces, [](std::string_view) {}));
}

TEST_CASE("a rule has the names that files use", "[splitter]") {
  CHECK(find_split_rule("llama3") == find_split_rule("llama-bpe"));
  CHECK(find_split_rule("deepseek-r1-qwen") == find_split_rule("qwen2"));
  CHECK(find_split_rule("default") == nullptr);
  CHECK(find_split_rule("") == nullptr);
}

} // namespace perigee::engine
