#include "actors/gateway/request_parser.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

const api_limits limits{.model = "smol", .vocabulary = 1000};

template <class T>
void refused(const api_result<T>& got, api_code code, const std::string& param) {
  REQUIRE_FALSE(got);
  CHECK(info_of(got.error().code).text == info_of(code).text);
  CHECK(got.error().param == param);
}

} // namespace

TEST_CASE("text or a chat is tokenized") {
  auto text = parse_tokenize(R"({"model":"smol","prompt":"hi"})", limits);
  REQUIRE(text);
  CHECK(std::get<std::string>(text->prompt) == "hi");
  CHECK(text->add_special_tokens);
  auto turns = parse_tokenize(
    R"({"messages":[{"role":"user","content":"hi"}],"add_special_tokens":false})",
    limits);
  REQUIRE(turns);
  CHECK(std::get<dialogue>(turns->prompt).size() == 1);
  CHECK_FALSE(turns->add_special_tokens);
}

TEST_CASE("to tokenize, one prompt is given, and only one") {
  using enum api_code;
  refused(parse_tokenize("{}", limits), missing_parameter, "prompt");
  refused(parse_tokenize(
            R"({"prompt":"hi","messages":[{"role":"user","content":"hi"}]})", limits),
          invalid_value, "prompt");
  refused(parse_tokenize(R"({"prompt":["hi"]})", limits), invalid_type, "prompt");
  refused(parse_tokenize(R"({"promt":"hi"})", limits), unknown_parameter, "promt");
  refused(parse_tokenize(R"({"prompt":"hi","model":"x"})", limits), model_not_found,
          "model");
  refused(parse_tokenize("[", limits), invalid_json, "");
}

TEST_CASE("token ids of the vocabulary are detokenized") {
  using enum api_code;
  auto got = parse_detokenize(R"({"tokens":[0,999]})", limits);
  REQUIRE(got);
  CHECK(got->tokens == token_list{0, 999});
  CHECK(parse_detokenize(R"({"tokens":[]})", limits)->tokens.empty());
  refused(parse_detokenize(R"({"tokens":[1000]})", limits), invalid_value, "tokens[0]");
  refused(parse_detokenize(R"({"tokens":"hi"})", limits), invalid_type, "tokens");
  refused(parse_detokenize("{}", limits), missing_parameter, "tokens");
}

} // namespace perigee::gateway
