#include "engine/tokenizer/utf8.hpp"

#include "engine/tokenizer/utf8_stream.hpp"
#include "tests/engine/tokenizer/golden_texts.hpp"

#include <catch2/catch.hpp>

namespace perigee::engine {

namespace {

std::string in_pieces(std::string_view bytes, std::size_t piece) {
  utf8_stream stream;
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    text += stream.push(bytes.substr(at, piece));
  return text + stream.flush();
}

} // namespace

TEST_CASE("what is no UTF-8 is told from what is", "[utf8]") {
  for (const char* good : {"", "a", "é", "\u0800", "\uD7FF", "\uE000", "\uFFFF",
                           "\U00010000", "\U0010FFFF", "aé日👍"})
    CHECK(is_utf8(good));
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x9F\xBF", "\xED\xA0\x80",
        "\xE6\x97", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"})
    CHECK_FALSE(is_utf8(bad));
}

TEST_CASE("each maximal subpart becomes one replacement character", "[utf8]") {
  // The examples of the Unicode standard, tables 3-8 to 3-11.
  const std::string r = "\uFFFD";
  CHECK(with_replacements("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41")
        == r + r + r + r + r + r + r + r + "A");
  CHECK(with_replacements("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41")
        == r + r + r + r + r + r + r + r + "A");
  CHECK(with_replacements("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42")
        == r + r + r + r + r + "A" + r + r + "B");
  CHECK(with_replacements("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41")
        == r + r + r + r + "A");
}

TEST_CASE("characters come out of a stream whole, however they went in", "[utf8]") {
  const std::string text = "aé日👍\u0301z";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    utf8_stream stream;
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      const std::string whole = stream.push(std::string_view{text}.substr(at, piece));
      CHECK(is_utf8(whole));
      out += whole;
    }
    CHECK(out == text);
    CHECK(stream.flush().empty());
  }
}

TEST_CASE("a stream says the same as all bytes at once, whatever they are", "[utf8]") {
  for (const std::string& text : golden::read_corpus()) {
    const std::string whole = with_replacements(text);
    CHECK(is_utf8(whole));
    for (const std::size_t piece : {1, 2, 3, 5})
      CHECK(in_pieces(text, piece) == whole);
  }
}

TEST_CASE("a stream holds back only what may still become a character", "[utf8]") {
  utf8_stream stream;
  CHECK(stream.push("a\xF0\x9F\x91") == "a");
  CHECK(stream.push("\x8D!") == "👍!");
  CHECK(stream.push("\xE6\x97") == "");
  CHECK(stream.push("x") == "\uFFFDx");
  CHECK(stream.push("\xF0\x80") == "\uFFFD\uFFFD");
  CHECK(stream.push("\xC3") == "");
  CHECK(stream.flush() == "\uFFFD");
  CHECK(stream.push("b") == "b");
}

TEST_CASE("healing keeps what a byte-level tokenizer can spell", "[utf8]") {
  CHECK(healed("aé日👍") == "aé日👍");
  CHECK(healed(std::string_view{"\xC0\x80", 2}) == std::string(1, '\0'));
  CHECK(healed("\xE0\x80\xAF") == "/");
  CHECK(healed("\xED\xA0\x80") == "\xED\xA0\x80");
  CHECK(healed("\xE6\x97") == "\uFFFD\uFFFD");
  CHECK(healed("\xF4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
  CHECK(healed("\xF8\xFF") == "\uFFFD\uFFFD");
}

} // namespace perigee::engine
