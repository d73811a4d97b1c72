#include "engine/tokenizer/special_tokens.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace perigee::engine {

namespace {

/// Fragments as text: tokens in brackets.
std::string partition(const special_tokens& tokens, std::string_view text,
                      std::vector<stretch> stretches) {
  std::string shown;
  std::size_t at = 0;
  for (const fragment& one : tokens.partition(text, stretches)) {
    CHECK(one.begin == at);
    at += one.size;
    const std::string part{text.substr(one.begin, one.size)};
    shown += one.token ? "[" + std::to_string(*one.token) + "]" : part;
  }
  CHECK(at == text.size());
  return shown;
}

std::string all_meant(const special_tokens& tokens, std::string_view text) {
  return partition(tokens, text, {{text.size(), true}});
}

} // namespace

TEST_CASE("structure is recognised only where it is meant", "[special_tokens]") {
  special_tokens tokens;
  tokens.add(1, "<s>", true);
  tokens.add(2, "<tab>", false);
  CHECK(partition(tokens, "a<s>b<tab>", {{10, true}}) == "a[1]b[2]");
  CHECK(partition(tokens, "a<s>b<tab>", {{10, false}}) == "a<s>b[2]");
  CHECK(partition(tokens, "<s><s><s>", {{3, true}, {6, false}, {9, true}})
        == "[1]<s>[1]");
}

TEST_CASE("structure is never put together from parts", "[special_tokens]") {
  special_tokens tokens;
  tokens.add(1, "<s>", true);
  tokens.add(2, "<tab>", false);
  CHECK(partition(tokens, "<s>", {{1, true}, {2, false}, {3, true}}) == "<s>");
  CHECK(partition(tokens, "<s>", {{1, false}, {3, true}}) == "<s>");
  CHECK(partition(tokens, "<s>", {{2, true}, {3, false}}) == "<s>");
  CHECK(partition(tokens, "<s>", {{1, true}, {3, true}}) == "[1]");
  CHECK(partition(tokens, "<tab>", {{2, true}, {5, false}}) == "[2]");
}

TEST_CASE("longer tokens come first, then those to the left", "[special_tokens]") {
  special_tokens tokens;
  tokens.add(1, "ab", false);
  tokens.add(2, "bcde", false);
  tokens.add(3, "abab", false);
  tokens.add(4, "de", false);
  CHECK(all_meant(tokens, "abcde") == "a[2]");
  CHECK(all_meant(tokens, "ababab") == "[3][1]");
  CHECK(all_meant(tokens, "abababab") == "[3][3]");
  CHECK(all_meant(tokens, "bcdde") == "bcd[4]");
  CHECK(all_meant(tokens, "ababcde") == "[3]c[4]");
}

TEST_CASE("runs are cut from the left", "[special_tokens]") {
  special_tokens tokens;
  std::string run;
  for (token_id id = 1; id <= 5; ++id)
    tokens.add(id, run += '\n', false);
  CHECK(all_meant(tokens, std::string(13, '\n')) == "[5][5][3]");
  CHECK(all_meant(tokens, "x\n\ny\n") == "x[2]y[1]");
}

TEST_CASE("a text without special tokens is one fragment, and none has none",
          "[special_tokens]") {
  special_tokens tokens;
  CHECK(all_meant(tokens, "abc") == "abc");
  CHECK(tokens.partition("", {}).empty());
}

} // namespace perigee::engine
