#include "apps/perigee/bench_serve_answer.hpp"
#include "apps/perigee/bench_serve_client.hpp"
#include "apps/perigee/bench_serve_prompt.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

namespace perigee::app {
namespace {

using namespace std::chrono_literals;

workload::request asks(std::uint32_t input, std::vector<std::uint64_t> blocks) {
  return {0ms, input, 3, std::move(blocks), {}};
}

TEST_CASE("equal blocks are equal tokens, others are others, and all are plain") {
  prompt_material from;
  from.block_tokens = 16;
  auto one = tokens_of(asks(40, {7, 8, 9}), from);
  auto other = tokens_of(asks(33, {7, 8, 10}), from);
  REQUIRE(one.size() == 40);
  REQUIRE(other.size() == 33);
  CHECK(std::equal(one.begin(), one.begin() + 32, other.begin()));
  CHECK(one[32] != other[32]);
  CHECK_FALSE(std::equal(one.begin(), one.begin() + 16, one.begin() + 16));
  for (auto token : one) {
    CHECK(token >= from.token_first);
    CHECK(token <= from.token_last);
  }
}

TEST_CASE("another seed makes another prompt of the same trace") {
  prompt_material from;
  auto one = tokens_of(asks(100, {7}), from);
  from.seed = 2;
  CHECK(one != tokens_of(asks(100, {7}), from));
}

TEST_CASE("a body asks for exactly as many tokens, as a stream") {
  prompt_material from;
  from.token_last = from.token_first;
  CHECK(body_of(asks(2, {7}), from)
        == R"({"prompt":[1000,1000],"max_tokens":3,"ignore_eos":true,"temperature":0,)"
           R"("stream":true,"stream_options":{"include_usage":true}})");
  from.model = "a \"b\"";
  CHECK(
    body_of(asks(1, {7}), from).starts_with(R"({"model":"a \"b\"","prompt":[1000])"));
}

constexpr std::string_view some_stream
  = "data: {\"choices\":[{\"index\":0,\"text\":\"a\",\"finish_reason\":null}]}\r\n\r\n"
    ": a comment\n\n"
    "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":null}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"text\":\"b\",\"finish_reason\":null}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"length\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3,"
    "\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n"
    "data: [DONE]\n\n";

TEST_CASE("a stream is the same in whatever pieces it comes") {
  for (std::size_t size : {std::size_t{1}, std::size_t{7}, some_stream.size()}) {
    streamed_answer said;
    for (std::size_t at = 0; at < some_stream.size(); at += size)
      REQUIRE(said.take(some_stream.substr(at, size), std::chrono::nanoseconds(at)));
    CHECK(said.is_whole());
    CHECK(said.moments().size() == 2);
    CHECK(said.prompt_tokens() == 9);
    CHECK(said.cached_tokens() == 4);
    CHECK(said.output_tokens() == 3);
  }
}

TEST_CASE("a token's moment is that of the piece that ends its event") {
  streamed_answer said;
  auto end = some_stream.find('\n') + 1;
  REQUIRE(said.take(some_stream.substr(0, end - 1), 1ms));
  CHECK(said.moments().empty());
  REQUIRE(said.take(some_stream.substr(end - 1), 2ms));
  CHECK(said.moments() == std::vector<std::chrono::nanoseconds>{2ms, 2ms});
}

TEST_CASE("a stream that breaks off is not whole, and an error in it is named") {
  streamed_answer cut;
  REQUIRE(cut.take(some_stream.substr(0, some_stream.find("data: [DONE]")), 1ms));
  CHECK_FALSE(cut.is_whole());
  streamed_answer failed;
  REQUIRE(failed.take("data: {\"error\":{\"code\":\"actor_lost\"}}\n\n"
                      "data: [DONE]\n\n",
                      1ms));
  CHECK_FALSE(failed.is_whole());
  CHECK(failed.failure() == "actor_lost");
}

TEST_CASE("what is no stream of events is no answer") {
  CHECK_FALSE(streamed_answer{}.take("<html>\n", 1ms));
  CHECK_FALSE(streamed_answer{}.take("data: {\n", 1ms));
  CHECK_FALSE(streamed_answer{}.take("data: 5\n", 1ms));
  CHECK_FALSE(streamed_answer{}.take(std::string(std::size_t{2} << 20, 'x'), 1ms));
}

TEST_CASE("odd events neither count as tokens nor do harm") {
  streamed_answer said;
  for (const char* event :
       {"{}", R"({"choices":5})", R"({"choices":[]})", R"({"choices":[1]})",
        R"({"choices":[{"text":5}]})", R"({"usage":{"completion_tokens":-1}})",
        R"({"usage":null,"error":null})"})
    CHECK(said.take(std::string{"data: "} + event + "\n\n", 1ms));
  CHECK(said.moments().empty());
  CHECK(said.output_tokens() == 0);
}

TEST_CASE("errors are named by their code, else by their type") {
  CHECK(error_code_in(R"({"error":{"code":"queue_full","type":"x"}})") == "queue_full");
  CHECK(error_code_in(R"({"error":{"code":400,"type":"bad_thing"}})") == "bad_thing");
  CHECK(error_code_in(R"({"error":{}})") == "unnamed_error");
  CHECK(error_code_in("nonsense").empty());
}

TEST_CASE("a URL is a host, perhaps a port, and perhaps a path") {
  auto plain = read_url("http://127.0.0.1:8000");
  REQUIRE(plain);
  CHECK(*plain == server_address{"127.0.0.1", "8000", "/v1"});
  CHECK(read_url("http://here").value() == server_address{"here", "80", "/v1"});
  CHECK(read_url("http://here/").value() == server_address{"here", "80", "/v1"});
  CHECK(read_url("http://h:1/a/v1/").value() == server_address{"h", "1", "/a/v1"});
  CHECK(read_url("http://[::1]:81").value() == server_address{"::1", "81", "/v1"});
  for (const char* wrong : {"", "here:80", "https://here", "http://", "http://:80",
                            "http://h:", "http://h:x", "http://h:999999", "http://h h",
                            "http://h/?a", "http://u@h"}) {
    INFO(wrong);
    CHECK_FALSE(read_url(wrong));
  }
}

} // namespace
} // namespace perigee::app
