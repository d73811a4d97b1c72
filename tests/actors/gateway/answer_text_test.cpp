#include "actors/gateway/answer_text.hpp"

#include "actors/gateway/json_text.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

bool is_whole(std::string_view text) {
  while (!text.empty()) {
    auto length = utf8_length(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

scored_token scored(float logprob) {
  scored_token one;
  one.logprob = logprob;
  return one;
}

} // namespace

TEST_CASE("characters are never split, however tokens split them") {
  const std::string text = "naïve 漢字 😀 e\xcc\x81";
  for (std::size_t size = 1; size <= 4; ++size) {
    answer_text answer{{}, false};
    std::string got;
    for (std::size_t at = 0; at < text.size(); at += size) {
      answer.push(text.substr(at, size));
      auto piece = answer.take().text;
      CHECK(is_whole(piece));
      got += piece;
    }
    answer.finish();
    CHECK(got + answer.take().text == text);
  }
}

TEST_CASE("a character that is never finished becomes a replacement") {
  answer_text answer{{}, false};
  answer.push("a\xe2\x82");
  CHECK(answer.take().text == "a");
  answer.finish();
  CHECK(answer.take().text == "\xef\xbf\xbd");
}

TEST_CASE("a stop string may lie across tokens and characters") {
  answer_text answer{{"é."}, false};
  answer.push("caf\xc3");
  CHECK(answer.take().text == "caf");
  answer.push("\xa9");
  CHECK(answer.take().text.empty());
  answer.push(".. more");
  CHECK(answer.stopped());
  answer.finish();
  CHECK(answer.take().text.empty());
}

TEST_CASE("what was held back comes out at the end, or when it cannot be a stop") {
  answer_text answer{{"END"}, false};
  answer.push("xEN");
  CHECK(answer.take().text == "x");
  answer.push("CORE");
  CHECK(answer.take().text == "ENCOR");
  answer.finish();
  CHECK(answer.take().text == "E");
}

TEST_CASE("scores come with the text in which their tokens begin") {
  answer_text answer{{"END"}, true};
  answer.push("é", scored(-1));
  answer.push("xE", scored(-2));
  answer.push("N", scored(-3));
  auto first = answer.take();
  CHECK(first.text == "éx");
  REQUIRE(first.scores.size() == 2);
  CHECK(first.scores[0].offset == 0);
  CHECK(first.scores[1].offset == 1); // in characters
  CHECK(first.scores[1].bytes == "xE");
  answer.push("D", scored(-4));
  answer.finish();
  CHECK(answer.stopped());
  CHECK(answer.take().scores.empty()); // of tokens that the stop string swallowed
}

TEST_CASE("tokens without text have scores too") {
  answer_text answer{{}, true};
  answer.push("", scored(-1));
  answer.push("\xc3", scored(-2));
  answer.finish();
  auto all = answer.take();
  CHECK(all.scores.size() == 2);
  CHECK(all.text == "\xef\xbf\xbd");
}

TEST_CASE("a prompt is echoed whatever stop strings it holds") {
  answer_text answer{{"END"}, true};
  answer.pass("the END \xc3");
  answer.push("\xa9 EN", scored(-1));
  CHECK(answer.take().text == "the END é ");
  answer.push("D");
  CHECK(answer.stopped());
}

} // namespace perigee::gateway
