#include "actors/gateway/http_exchange.hpp"
#include "actors/gateway/request_parser.hpp"
#include "tests/actors/gateway/toy_model.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace perigee::gateway {
namespace {

using namespace std::chrono_literals;

/// Writes down what goes out to a client.
struct recording_line : http_line {
  void answer(http_answer whole) override {
    REQUIRE_FALSE(has_ended);
    status = whole.status;
    body = whole.body;
    has_ended = true;
  }
  void begin_events() override {
    REQUIRE_FALSE(streams);
    streams = true;
  }
  bool write(std::string_view events) override {
    REQUIRE(streams);
    body += events;
    return true;
  }
  void end_events() override {
    has_ended = true;
  }

  bool has(std::string_view part) const {
    return body.find(part) != std::string::npos;
  }

  int status = 0;
  std::string body;
  bool streams = false;
  bool has_ended = false;
};

/// Writes down what is submitted; time goes by a millisecond at each look.
struct recording_door : cluster_door {
  bool submit(const submission& wish) override {
    if (is_shut)
      return false;
    open.insert(wish.stream);
    seeds.push_back(wish.sampling->seed);
    last = wish;
    last.sampling = nullptr;
    return true;
  }
  void withdraw(std::uint64_t stream) override {
    withdrawn.insert(stream);
  }
  std::chrono::nanoseconds now() const override {
    return time += 1ms;
  }

  mutable std::chrono::nanoseconds time{};
  bool is_shut = false;
  std::set<std::uint64_t> open;
  std::set<std::uint64_t> withdrawn;
  std::vector<std::uint64_t> seeds;
  submission last;
};

constexpr std::uint64_t first_stream = 1000;

struct scene {
  explicit scene(const std::string& body, bool is_chat = false) {
    auto limits = limits_of(toy);
    auto asked = is_chat ? parse_chat(body, limits) : parse_completion(body, limits);
    REQUIRE(asked);
    bool scored = asked->sampling.logprobs >= 0;
    auto ready = prepare(std::move(*asked), toy);
    REQUIRE(ready);
    exchange_start from;
    from.line = line;
    from.head
      = {is_chat ? api_kind::chat : api_kind::completion, "id", 1, "toy", "fp", scored};
    from.arrived_at = door.now();
    from.parsed_at = door.now();
    from.stream_first = first_stream;
    from.seed = 77;
    exchange.emplace(std::move(from), std::move(*ready), toy, door);
    exchange->begin();
  }

  void say(std::string_view text, stream_end end = stream_end::not_yet,
           std::uint64_t nth = 0) {
    stream_news news{.stream = first_stream + nth, .taken_at = door.now()};
    for (auto token : test::bytes_as_tokens(text))
      news.tokens.push_back({token, -0.5f, {{token, -0.5f}}});
    news.end = end;
    news.cached_tokens = 1;
    timings stages;
    stages[stage::prefill] = 3ms;
    news.stages = stages;
    exchange->hear(std::move(news));
  }

  void fail(api_code code, std::uint64_t nth = 0) {
    stream_news news{.stream = first_stream + nth, .taken_at = door.now()};
    news.end = stream_end::failed;
    news.why = api_error{code, "so it is", "", {}};
    exchange->hear(std::move(news));
  }

  served_model toy = test::toy_model();
  std::shared_ptr<recording_line> line = std::make_shared<recording_line>();
  recording_door door;
  std::optional<http_exchange> exchange;
};

std::string quoted(std::string_view text) {
  return "\"text\":\"" + std::string{text} + '"';
}

} // namespace

TEST_CASE("an answer comes whole, with usage and with timings that add up") {
  scene at{R"({"prompt":"abc"})"};
  at.say("he");
  CHECK_FALSE(at.line->has_ended);
  at.say("y", stream_end::stop);
  CHECK(at.exchange->is_over());
  CHECK(at.line->status == 200);
  CHECK(at.line->has(quoted("hey")));
  CHECK(at.line->has(R"("finish_reason":"stop")"));
  CHECK(at.line->has(R"("prompt_tokens":3,"completion_tokens":3,"total_tokens":6)"));
  CHECK(at.line->has(R"("cached_tokens":1)"));
  CHECK(at.line->has(R"("prefill_ms":3,)"));
  CHECK(at.door.withdrawn.empty());
}

TEST_CASE("a stream's pieces go out as they come") {
  scene at{R"({"prompt":"abc","stream":true,"stream_options":{"include_usage":true}})"};
  CHECK_FALSE(at.line->streams); // a refusal could still have its status
  at.say("h");
  CHECK(at.line->has(quoted("h")));
  at.say("\xc3");
  at.say("\xa9", stream_end::length);
  CHECK(at.line->has(quoted("é")));
  CHECK(at.line->has(R"("finish_reason":"length"}],"usage":null,"timings":{)"));
  CHECK(
    at.line->has(R"("choices":[],"usage":{"prompt_tokens":3,"completion_tokens":3)"));
  CHECK(at.line->body.ends_with("data: [DONE]\n\n"));
  CHECK(at.line->has_ended);
}

TEST_CASE("a stop string ends the answer before it, and withdraws the stream") {
  for (bool stream : {false, true}) {
    scene at{std::string{R"({"prompt":"abc","stop":["END"],"stream":)"}
             + (stream ? "true}" : "false}")};
    at.say("one EN");
    at.say("D two");
    CHECK(at.line->has_ended);
    CHECK(at.line->has("one "));
    CHECK_FALSE(at.line->has("EN"));
    CHECK(at.line->has(R"("finish_reason":"stop")"));
    CHECK(at.door.withdrawn == std::set<std::uint64_t>{first_stream});
    at.say("more", stream_end::length); // was on its way: nobody minds
  }
}

TEST_CASE("no stop string begins within the least length of an answer") {
  scene at{R"({"prompt":"a","stop":["ab"],"min_tokens":3})"};
  at.say("xab");
  CHECK_FALSE(at.line->has_ended);
  at.say("abz");
  CHECK(at.line->has_ended);
  CHECK(at.line->has(quoted("xab")));
  scene across{R"({"prompt":"a","stop":["ab"],"min_tokens":1})"};
  across.say("ab", stream_end::length); // half of it lies within
  CHECK(across.line->has(quoted("ab")));
  CHECK(across.line->has(R"("finish_reason":"length")"));
}

TEST_CASE("an answer of no tokens asks nobody") {
  scene at{R"({"prompt":"abc","max_tokens":0,"echo":true})"};
  CHECK(at.door.open.empty());
  CHECK(at.line->has(quoted("abc")));
  CHECK(at.line->has(R"("finish_reason":"length")"));
  CHECK(at.line->has(R"("completion_tokens":0)"));
  scene streamed{
    R"({"messages":[{"role":"user","content":"a"}],"max_tokens":0,"stream":true})",
    true};
  CHECK(streamed.line->has(R"("delta":{},"logprobs":null,"finish_reason":"length")"));
  CHECK(streamed.line->has_ended);
}

TEST_CASE("several prompts and answers are one answer") {
  scene at{R"({"prompt":["a","bc"],"n":2,"seed":5})"};
  CHECK(at.door.open.size() == 4);
  CHECK(at.door.seeds == std::vector<std::uint64_t>{5, 6, 5, 6}); // of each prompt
  at.say("3", stream_end::length, 3);
  at.say("0", stream_end::stop, 0);
  at.say("2", stream_end::stop, 2);
  CHECK_FALSE(at.line->has_ended);
  at.say("1", stream_end::stop, 1);
  CHECK(
    at.line->has(R"({"index":3,"text":"3","logprobs":null,"finish_reason":"length"})"));
  CHECK(at.line->body.find(quoted("0")) < at.line->body.find(quoted("1")));
  CHECK(at.line->has(R"("prompt_tokens":3,"completion_tokens":4)"));
}

TEST_CASE("answers without a seed differ") {
  scene at{R"({"prompt":"a","n":2})"};
  CHECK(at.door.seeds.at(0) != at.door.seeds.at(1));
}

TEST_CASE("an echoed prompt comes first, with its scores if they are wanted") {
  scene at{R"({"prompt":"ab","echo":true,"logprobs":1})"};
  CHECK(at.door.last.prompt_logprobs == 1);
  at.exchange->hear(prompt_scores{first_stream, 1, {{'b', -2.5f, {{'b', -2.5f}}}}});
  at.say("c", stream_end::stop);
  CHECK(at.line->has(quoted("abc")));
  CHECK(at.line->has(R"("tokens":["a","b","c"],"token_logprobs":[null,-2.5,-0.5])"));
  CHECK(at.line->has(R"("text_offset":[0,1,2])"));
}

TEST_CASE("a completion's token is always among the likeliest, a chat's if it is one") {
  stream_news news{.stream = first_stream};
  news.tokens.push_back({'x', -3.5f, {{'y', -0.25f}}});
  news.end = stream_end::stop;
  scene at{R"({"prompt":"ab","echo":true,"logprobs":1})"};
  at.exchange->hear(prompt_scores{first_stream, 1, {{'b', -2.5f, {{'c', -0.5f}}}}});
  at.exchange->hear(news);
  CHECK(
    at.line->has(R"("top_logprobs":[null,{"c":-0.5,"b":-2.5},{"y":-0.25,"x":-3.5}])"));
  scene none{R"({"prompt":"ab","logprobs":0})"};
  none.say("c", stream_end::stop);
  CHECK(none.line->has(R"("top_logprobs":[{"c":-0.5}])"));
  scene chat{
    R"({"messages":[{"role":"user","content":"a"}],"logprobs":true,"top_logprobs":1})",
    true};
  chat.exchange->hear(news);
  CHECK(
    chat.line->has(R"("top_logprobs":[{"token":"y","logprob":-0.25,"bytes":[121]}])"));
}

TEST_CASE("a prompt's scores may be all that is wanted") {
  scene at{R"({"prompt":"ab","echo":true,"logprobs":1,"max_tokens":0})"};
  CHECK(at.door.last.tokens_max == 1);
  at.exchange->hear(prompt_scores{first_stream, 1, {{'b', -2.5f, {}}}});
  at.say("c", stream_end::length);
  CHECK(at.line->has(quoted("ab")));
  CHECK(at.line->has(R"("completion_tokens":0)"));
}

TEST_CASE("a refusal is the answer, and what else was open is withdrawn") {
  scene at{R"({"prompt":["a","b"],"stream":true})"};
  at.fail(api_code::rejected_prefill);
  CHECK(at.line->status == 429);
  CHECK(at.line->has("rejected_prefill"));
  CHECK(at.door.withdrawn == std::set<std::uint64_t>{first_stream + 1});
  CHECK(at.exchange->is_over());
}

TEST_CASE("a stream that fails after it began says so in an event") {
  scene at{R"({"prompt":"a","stream":true})"};
  at.say("x");
  at.fail(api_code::actor_lost);
  CHECK(at.line->has(R"(data: {"error":{"message":"so it is")"));
  CHECK(at.line->body.ends_with("data: [DONE]\n\n"));
  CHECK(at.line->has_ended);
}

TEST_CASE("a client that goes withdraws all its streams") {
  scene at{R"({"prompt":["a","b","c"]})"};
  at.say("x", stream_end::stop, 1);
  at.exchange->withdraw();
  CHECK(at.door.withdrawn == std::set<std::uint64_t>{first_stream, first_stream + 2});
  CHECK(at.exchange->is_over());
  CHECK_FALSE(at.line->has_ended);
}

TEST_CASE("a gateway's successor gets what had not begun, and the rest fails") {
  scene fresh{R"({"prompt":["a","b"]})"};
  fresh.door.open.clear();
  fresh.exchange->begin_again();
  CHECK(fresh.door.open.size() == 2);
  fresh.say("x", stream_end::stop, 0);
  fresh.door.open.clear();
  fresh.exchange->begin_again(); // what has ended is not lost
  CHECK(fresh.door.open == std::set<std::uint64_t>{first_stream + 1});
  fresh.say("x", stream_end::not_yet, 1);
  fresh.exchange->begin_again();
  CHECK(fresh.line->status == 500);
  CHECK(fresh.line->has("actor_lost"));
}

TEST_CASE("a cluster without a gateway is not ready") {
  scene at{R"({"prompt":"abc"})"};
  at.door.is_shut = true;
  at.exchange->begin_again();
  CHECK(at.exchange->is_over());
}

} // namespace perigee::gateway
