#include "actors/gateway/preparation.hpp"

#include "actors/gateway/request_parser.hpp"
#include "tests/actors/gateway/toy_model.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

const served_model toy = test::toy_model(64);

api_result<prepared_request> prepared(const std::string& body, bool is_chat = false) {
  auto asked = is_chat ? parse_chat(body, limits_of(toy))
                       : parse_completion(body, limits_of(toy));
  if (!asked)
    return failure(asked.error());
  return prepare(std::move(*asked), toy);
}

/// A prompt of `size` bytes, with more parameters.
std::string of_size(std::size_t size, const std::string& more = "") {
  return R"({"prompt":")" + std::string(size, 'x') + '"' + more + "}";
}

std::string chat_of_size(std::size_t size, const std::string& more = "") {
  return R"({"messages":[{"role":"user","content":")" + std::string(size, 'x') + "\"}]"
         + more + "}";
}

std::uint32_t most_of(const api_result<prepared_request>& got) {
  INFO((got ? std::string{} : got.error().message));
  REQUIRE(got);
  return got->prompts.at(0).tokens_max;
}

void refused(const api_result<prepared_request>& got, api_code code) {
  REQUIRE_FALSE(got);
  INFO(got.error().message);
  CHECK(info_of(got.error().code).text == info_of(code).text);
}

} // namespace

TEST_CASE("text becomes tokens, with a key for each full block") {
  auto got = prepared(of_size(40));
  REQUIRE(got);
  const auto& one = got->prompts.at(0);
  CHECK(one.tokens == token_list(40, 'x'));
  CHECK(one.chain.size() == 2);
  CHECK(one.chain[0] != one.chain[1]);
  auto ids = prepared(R"({"prompt":[)" + [] {
    std::string list = "120";
    for (int i = 1; i < 40; ++i)
      list += ",120";
    return list;
  }() + "]}");
  CHECK(ids->prompts.at(0).chain == one.chain); // whatever form the prompt had
}

TEST_CASE("prefixes under another salt, or of another model, have other keys") {
  auto plain = prepared(of_size(40));
  auto salted = prepared(of_size(40, R"(,"cache_salt":"s")"));
  CHECK(plain->prompts[0].chain[0] != salted->prompts[0].chain[0]);
  auto other = toy;
  other.info.digest[0] = std::byte{1};
  auto again = prepare(*parse_completion(of_size(40), limits_of(toy)), other);
  CHECK(plain->prompts[0].chain[0] != again->prompts[0].chain[0]);
}

TEST_CASE("a chat becomes what the model was trained to continue") {
  auto got = prepared(chat_of_size(2), true);
  REQUIRE(got);
  CHECK(toy.words->decode(got->prompts.at(0).tokens, engine::control::shown)
        == "<|im_start|>user\nxx<|im_end|>\n<|im_start|>assistant\n");
  auto bare = toy;
  bare.talk = nullptr;
  refused(prepare(*parse_chat(chat_of_size(2), limits_of(toy)), bare),
          api_code::unsupported_parameter);
}

TEST_CASE("max_tokens is what is wanted, up to what the context has left") {
  CHECK(most_of(prepared(of_size(60, R"(,"max_tokens":0)"))) == 0);
  CHECK(most_of(prepared(of_size(60, R"(,"max_tokens":1)"))) == 1);
  CHECK(most_of(prepared(of_size(60, R"(,"max_tokens":4)"))) == 4); // all that is left
  refused(prepared(of_size(60, R"(,"max_tokens":5)")),
          api_code::context_length_exceeded);
  refused(prepared(of_size(60, R"(,"max_tokens":4294967295)")),
          api_code::context_length_exceeded);
  CHECK(most_of(prepared(of_size(60))) == 4);
  CHECK(most_of(prepared(of_size(10))) == 16);
  auto chat = prepared(chat_of_size(2), true);
  CHECK(most_of(chat) == 64 - chat->prompts[0].tokens.size());
}

TEST_CASE("a prompt that fills the context leaves room for nothing") {
  CHECK(most_of(prepared(of_size(64, R"(,"max_tokens":0)"))) == 0);
  refused(prepared(of_size(64)), api_code::context_length_exceeded);
  refused(prepared(of_size(64, R"(,"max_tokens":1)")),
          api_code::context_length_exceeded);
  refused(prepared(of_size(65, R"(,"max_tokens":0)")),
          api_code::context_length_exceeded);
  refused(prepared(chat_of_size(64), true), api_code::context_length_exceeded);
}

TEST_CASE(
  "a prompt that is too long by itself is named, with its tokens and the limit") {
  auto judge = [](const api_result<prepared_request>& got, const std::string& param,
                  const std::string& tokens) {
    refused(got, api_code::context_length_exceeded);
    CHECK(got.error().param == param);
    CHECK(got.error().message
          == "the model's context is 64 tokens, and `" + param + "` has " + tokens);
  };
  judge(prepared(of_size(70)), "prompt", "70");
  judge(prepared(of_size(70, R"(,"max_tokens":9)")), "prompt", "70");
  judge(prepared(of_size(64)), "prompt", "64: an answer has no room");
  judge(prepared(of_size(128)), "prompt", "128");
  judge(prepared(of_size(129)), "prompt", "more than 128");
  judge(prepared(of_size(5'000'000)), "prompt", "more than 128");
  judge(prepared(chat_of_size(500), true), "messages", "more than 128");
  auto answer = prepared(of_size(60, R"(,"max_tokens":5)"));
  refused(answer, api_code::context_length_exceeded);
  CHECK(answer.error().param == "max_tokens");
}

TEST_CASE("what looks like a control token in a text is text") {
  auto got = prepared(R"({"prompt":"<|im_end|>"})");
  REQUIRE(got);
  CHECK(got->prompts.at(0).tokens == test::bytes_as_tokens("<|im_end|>"));
  auto ids = prepared(R"({"prompt":[257]})");
  REQUIRE(ids);
  CHECK(ids->prompts.at(0).tokens == token_list{test::toy_end});
}

TEST_CASE("an empty prompt is refused") {
  refused(prepared(R"({"prompt":""})"), api_code::invalid_value);
  refused(prepared(R"({"prompt":["a",""]})"), api_code::invalid_value);
}

TEST_CASE("an answer may not be asked to be longer than it may be") {
  refused(prepared(of_size(60, R"(,"min_tokens":5)")), api_code::invalid_value);
  CHECK(prepared(of_size(60, R"(,"min_tokens":4)")));
}

TEST_CASE("the model's own ends stop an answer, unless they are to be ignored") {
  auto got = prepared(of_size(2, R"(,"stop_token_ids":[3,257])"));
  auto stops = got->asked.sampling.stop_token_ids;
  CHECK(std::count(stops.begin(), stops.end(), test::toy_end) == 1);
  CHECK(std::count(stops.begin(), stops.end(), 3u) == 1);
  auto ignoring = prepared(of_size(2, R"(,"stop_token_ids":[3],"ignore_eos":true)"));
  CHECK(ignoring->asked.sampling.stop_token_ids == token_list{3});
}

TEST_CASE("what is echoed is the prompt as it came") {
  auto got = prepared(R"({"prompt":"h\u00e9","echo":true})");
  CHECK(got->prompts[0].echo == "hé");
  auto ids = prepared(R"({"prompt":[104,105],"echo":true})");
  CHECK(ids->prompts[0].echo == "hi");
}

} // namespace perigee::gateway
