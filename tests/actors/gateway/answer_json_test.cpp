#include "actors/gateway/answer_json.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

const answer_head chat_head{api_kind::chat, "chatcmpl-1", 42, "smol", "fp", false};
const answer_head text_head{api_kind::completion, "cmpl-1", 42, "smol", "fp", false};

answer_head scored(answer_head head) {
  head.scored = true;
  return head;
}

choice said(std::uint32_t index, std::string text, finish why = finish::not_yet) {
  return {index, {std::move(text), {}}, why};
}

choice with_scores() {
  choice one = said(0, "hé", finish::length);
  one.said.scores.push_back({"h", -0.5f, {{"h", -0.5f}, {"\xc3", -1.5f}}, 0});
  one.said.scores.push_back({"\xc3", -0.25f, {}, 1});
  return one;
}

const std::string head_json
  = R"({"id":"chatcmpl-1","object":"chat.completion",)"
    R"("created":42,"model":"smol","system_fingerprint":"fp",)";
const std::string chunk_json
  = R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk",)"
    R"("created":42,"model":"smol","system_fingerprint":"fp",)";

} // namespace

TEST_CASE("a chat's answer is a chat.completion with usage and timings") {
  std::vector<choice> all{said(0, "hi \"there\"", finish::stop)};
  timings times;
  CHECK(
    whole_answer(chat_head, all, {5, 2, 4}, times)
    == head_json
         + R"("choices":[{"index":0,"message":{"role":"assistant","content":)"
           R"("hi \"there\"","refusal":null},"logprobs":null,"finish_reason":"stop"}],)"
           R"("usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,)"
           R"("prompt_tokens_details":{"cached_tokens":4}},"timings":)"
         + to_json(times) + "}");
}

TEST_CASE("a completion's answers stand in order, as text") {
  std::vector<choice> all{said(0, "a", finish::stop), said(1, "b", finish::length)};
  auto body = whole_answer(text_head, all, {}, {});
  CHECK(body.find(R"("object":"text_completion")") != std::string::npos);
  CHECK(body.find(R"("choices":[{"index":0,"text":"a","logprobs":null,)"
                  R"("finish_reason":"stop"},{"index":1,"text":"b","logprobs":null,)"
                  R"("finish_reason":"length"}])")
        != std::string::npos);
}

TEST_CASE("logprobs have the form of their API") {
  std::vector<choice> all{with_scores()};
  auto chat_body = whole_answer(scored(chat_head), all, {}, {});
  CHECK(chat_body.find(
          R"("logprobs":{"content":[{"token":"h","logprob":-0.5,"bytes":[104],)"
          R"("top_logprobs":[{"token":"h","logprob":-0.5,"bytes":[104]},)"
          R"({"token":"bytes:\\xc3","logprob":-1.5,"bytes":[195]}]},)"
          R"({"token":"bytes:\\xc3","logprob":-0.25,"bytes":[195],"top_logprobs":[]}],)"
          R"("refusal":null})")
        != std::string::npos);
  auto text_body = whole_answer(scored(text_head), all, {}, {});
  CHECK(text_body.find(R"("logprobs":{"tokens":["h","bytes:\\xc3"],)"
                       R"("token_logprobs":[-0.5,-0.25],)"
                       R"("top_logprobs":[{"h":-0.5,"bytes:\\xc3":-1.5},{}],)"
                       R"("text_offset":[0,1]})")
        != std::string::npos);
}

TEST_CASE("of likely tokens with one text, the likeliest stands for all") {
  choice one = said(0, "a", finish::length);
  one.said.scores.push_back({"", -0.5f, {{"", -0.5f}, {"b", -1.5f}, {"", -2.5f}}, 0});
  auto body = whole_answer(scored(text_head), std::vector{one}, {}, {});
  CHECK(body.find(R"("top_logprobs":[{"":-0.5,"b":-1.5}])") != std::string::npos);
}

TEST_CASE("the first token of an echoed prompt has no logprob") {
  choice one = said(0, "a", finish::length);
  one.said.scores.push_back({"a", std::nullopt, {}, 0});
  auto body = whole_answer(scored(text_head), std::vector{one}, {}, {});
  CHECK(body.find(R"("token_logprobs":[null],"top_logprobs":[null])")
        != std::string::npos);
}

TEST_CASE("a chat's stream opens with the role, and its last chunk says why it ends") {
  chunk_writer chunks{chat_head, false};
  CHECK(chunks.opening(1)
        == chunk_json
             + R"("choices":[{"index":1,"delta":{"role":"assistant","content":""},)"
               R"("logprobs":null,"finish_reason":null}]})"
             + "\n\n");
  CHECK(chunks.chunk(said(1, "hi"), nullptr)
        == chunk_json
             + R"("choices":[{"index":1,"delta":{"content":"hi"},"logprobs":null,)"
               R"("finish_reason":null}]})"
             + "\n\n");
  timings times;
  CHECK(chunks.chunk(said(1, "", finish::stop), &times)
        == chunk_json
             + R"("choices":[{"index":1,"delta":{},"logprobs":null,)"
               R"("finish_reason":"stop"}],"timings":)"
             + to_json(times) + "}\n\n");
}

TEST_CASE("usage comes in a last chunk without choices, and is null before") {
  chunk_writer chunks{chat_head, true};
  auto null_usage = std::string{R"(,"usage":null})"} + "\n\n";
  CHECK(chunks.opening(0).ends_with(null_usage));
  CHECK(chunks.chunk(said(0, "x"), nullptr).ends_with(null_usage));
  CHECK(chunks.usage({3, 2, 1})
        == chunk_json
             + R"("choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,)"
               R"("total_tokens":5,"prompt_tokens_details":{"cached_tokens":1}}})"
             + "\n\n");
}

TEST_CASE("a completion's stream has no opening") {
  chunk_writer chunks{text_head, false};
  CHECK(chunks.opening(0).empty());
  CHECK(chunks.chunk(said(0, "x"), nullptr)
          .find(R"("choices":[{"index":0,"text":"x","logprobs":null,)"
                R"("finish_reason":null}])")
        != std::string::npos);
}

} // namespace perigee::gateway
