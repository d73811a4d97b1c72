#include "actors/gateway/request_parser.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace perigee::gateway {
namespace {

const api_limits limits{.model = "smol", .vocabulary = 1000};

std::string chat_with(const std::string& more) {
  return R"({"messages":[{"role":"user","content":"hi"}])" + more + "}";
}

std::string completion_with(const std::string& more) {
  return R"({"prompt":"hi")" + more + "}";
}

api_request chat_of(const std::string& more) {
  auto got = parse_chat(chat_with(more), limits);
  INFO((got ? std::string{} : got.error().message));
  REQUIRE(got);
  return *got;
}

api_request completion_of(const std::string& more) {
  auto got = parse_completion(completion_with(more), limits);
  INFO((got ? std::string{} : got.error().message));
  REQUIRE(got);
  return *got;
}

void refused(const api_result<api_request>& got, api_code code,
             const std::string& param) {
  REQUIRE_FALSE(got);
  INFO(got.error().message);
  CHECK(info_of(got.error().code).text == info_of(code).text);
  CHECK(got.error().param == param);
}

void chat_refused(const std::string& more, api_code code, const std::string& param) {
  INFO(more);
  refused(parse_chat(chat_with(more), limits), code, param);
}

void completion_refused(const std::string& more, api_code code,
                        const std::string& param) {
  INFO(more);
  refused(parse_completion(completion_with(more), limits), code, param);
}

using enum api_code;

} // namespace

TEST_CASE("a plain chat has the defaults of the OpenAI API") {
  auto got = chat_of("");
  CHECK(got.kind == api_kind::chat);
  REQUIRE(got.prompts.size() == 1);
  auto& turns = std::get<dialogue>(got.prompts[0]);
  REQUIRE(turns.size() == 1);
  CHECK(turns[0].role == "user");
  CHECK(turns[0].text == "hi");
  CHECK(got.n == 1);
  CHECK_FALSE(got.tokens_max); // what the context has left
  CHECK(got.sampling.temperature == 1.0);
  CHECK(got.sampling.logprobs == -1);
  CHECK_FALSE(got.seeded);
  CHECK_FALSE(got.stream);
}

TEST_CASE("a plain completion has its prompt alone") {
  auto got = completion_of("");
  CHECK(got.kind == api_kind::completion);
  CHECK(std::get<std::string>(got.prompts.at(0)) == "hi");
  CHECK_FALSE(got.tokens_max);
}

TEST_CASE("every parameter of sampling is read") {
  auto got = chat_of(
    R"(,"temperature":0.5,"top_p":0.9,"min_p":0.1,"top_k":40,"repetition_penalty":1.1,)"
    R"("frequency_penalty":-1,"presence_penalty":2,"seed":-7,"logit_bias":{"7":-100,"3":1.5},)"
    R"("min_tokens":2,"max_tokens":9,"stop_token_ids":[5,6],"ignore_eos":true,)"
    R"("logprobs":true,"top_logprobs":3,"n":2,"user":"me","cache_salt":"s")");
  CHECK(got.sampling.temperature == 0.5);
  CHECK(got.sampling.top_p == 0.9);
  CHECK(got.sampling.min_p == 0.1);
  CHECK(got.sampling.top_k == 40);
  CHECK(got.sampling.repetition_penalty == 1.1);
  CHECK(got.sampling.frequency_penalty == -1);
  CHECK(got.sampling.presence_penalty == 2);
  CHECK(got.seeded);
  CHECK(got.sampling.seed == static_cast<std::uint64_t>(-7));
  CHECK(got.sampling.logit_bias
        == std::vector<std::pair<token_id, double>>{{3, 1.5}, {7, -100}});
  CHECK(got.sampling.min_tokens == 2);
  CHECK(got.tokens_max == 9u);
  CHECK(got.sampling.stop_token_ids == std::vector<token_id>{5, 6});
  CHECK(got.ignore_eos);
  CHECK(got.sampling.logprobs == 3);
  CHECK(got.n == 2);
  CHECK(got.user == "me");
  CHECK(got.cache_salt == "s");
}

TEST_CASE("null is absent") {
  auto got = chat_of(R"(,"max_tokens":null,"stop":null,"stream":null,"tools":null,)"
                     R"("stream_options":null,"seed":null,"logit_bias":null)");
  CHECK_FALSE(got.tokens_max);
  CHECK_FALSE(got.seeded);
}

TEST_CASE("a prompt is text, a list of texts, token ids, or lists of those") {
  auto read = [](const std::string& prompt) {
    return parse_completion(R"({"prompt":)" + prompt + "}", limits);
  };
  CHECK(std::get<std::string>(read(R"("a")")->prompts.at(0)) == "a");
  CHECK(std::get<std::string>(read(R"(["a","b"])")->prompts.at(1)) == "b");
  CHECK(std::get<token_list>(read("[1,2,999]")->prompts.at(0))
        == token_list{1, 2, 999});
  auto lists = read("[[1],[2,3]]");
  CHECK(lists->prompts.size() == 2);
  CHECK(std::get<token_list>(lists->prompts.at(1)) == token_list{2, 3});
  refused(read("[]"), invalid_value, "prompt");
  refused(read("[1,1000]"), invalid_value, "prompt[1]");
  refused(read("[1,-1]"), invalid_value, "prompt[1]");
  refused(read("[1,1.5]"), invalid_type, "prompt[1]");
  refused(read(R"([1,"a"])"), invalid_type, "prompt[1]");
  refused(read(R"(["a",[1]])"), invalid_type, "prompt[1]");
  refused(read(R"([[1],"a"])"), invalid_type, "prompt[1]");
  refused(read("[[[1]]]"), invalid_type, "prompt[0][0]");
  refused(read("[true]"), invalid_type, "prompt[0]");
  refused(read("{}"), invalid_type, "prompt");
  refused(read("7"), invalid_type, "prompt");
  std::string many = R"(["a")";
  for (std::size_t i = 0; i < limits.prompts_max; ++i)
    many += R"(,"a")";
  refused(read(many + "]"), invalid_value, "prompt");
}

TEST_CASE("a turn's content is text, or text parts joined by line ends") {
  auto read = [](const std::string& turn) {
    return parse_chat(R"({"messages":[)" + turn + "]}", limits);
  };
  auto text_of = [](const api_result<api_request>& got) {
    REQUIRE(got);
    return std::get<dialogue>(got->prompts.at(0)).at(0).text;
  };
  CHECK(text_of(read(R"({"role":"user","content":"a"})")) == "a");
  CHECK(text_of(read(R"({"role":"user","content":[{"type":"text","text":"a"},)"
                     R"({"type":"text","text":"b"}]})"))
        == "a\nb");
  CHECK(text_of(read(R"({"role":"assistant","content":"a","refusal":null,)"
                     R"("tool_calls":[],"function_call":null,"annotations":[]})"))
        == "a");
  auto developer = read(R"({"role":"developer","content":"a"})");
  REQUIRE(developer);
  CHECK(std::get<dialogue>(developer->prompts.at(0)).at(0).role == "system");

  const std::string at = "messages[0]";
  refused(read("7"), invalid_type, at);
  refused(read(R"({"content":"a"})"), missing_parameter, at + ".role");
  refused(read(R"({"role":"king","content":"a"})"), invalid_value, at + ".role");
  refused(read(R"({"role":7,"content":"a"})"), invalid_type, at + ".role");
  refused(read(R"({"role":"tool","content":"a"})"), unsupported_parameter,
          at + ".role");
  refused(read(R"({"role":"user"})"), missing_parameter, at + ".content");
  refused(read(R"({"role":"user","content":null})"), missing_parameter,
          at + ".content");
  refused(read(R"({"role":"user","content":7})"), invalid_type, at + ".content");
  refused(read(R"({"role":"user","content":[]})"), invalid_value, at + ".content");
  refused(read(R"({"role":"user","content":["a"]})"), invalid_type, at + ".content[0]");
  refused(read(R"({"role":"user","content":[{"type":"text"}]})"), missing_parameter,
          at + ".content[0].text");
  refused(
    read(R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]})"),
    unsupported_parameter, at + ".content[0].type");
  refused(read(R"({"role":"user","content":"a","name":"bob"})"), unsupported_parameter,
          at + ".name");
  refused(read(R"({"role":"assistant","content":"a","tool_calls":[{}]})"),
          unsupported_parameter, at + ".tool_calls");
  refused(read(""), invalid_value, "messages");
}

TEST_CASE("a body must have its prompt, and the other API's is unknown") {
  refused(parse_chat("{}", limits), missing_parameter, "messages");
  refused(parse_completion("{}", limits), missing_parameter, "prompt");
  CHECK(
    parse_chat("{}", limits).error().message.starts_with("`messages` is missing; "));
  CHECK(
    parse_completion("{}", limits).error().message
    == "`prompt` is missing; it must be a string, a list of strings, a list of token "
       "ids, or a list of such lists");
  CHECK(parse_completion(R"({"prompt":[]})", limits).error().message
        == "`prompt` must not be empty");
  chat_refused(R"(,"prompt":"x")", unknown_parameter, "prompt");
  completion_refused(R"(,"messages":[])", unknown_parameter, "messages");
}

TEST_CASE("a body that is no JSON object in UTF-8 is refused, with the place") {
  for (std::string body :
       {"", " ", "{", "[]", "7", "null", R"({"prompt":"a"} x)", R"({"prompt":"a",})",
        "{\"prompt\":\"\xff\"}", "{\"prompt\":\"\xed\xa0\x80\"}",
        "{\"prompt\":\"\xc0\x80\"}", R"({"prompt":"\ud800"})", R"({"prompt":NaN})",
        R"({"prompt":"a","temperature":Infinity})", "{\"prompt\":\"a\nb\"}",
        "\xef\xbb\xbf{\"prompt\":\"a\"}"}) {
    INFO(body);
    refused(parse_completion(body, limits), invalid_json, "");
  }
  CHECK(parse_completion(" {\"prompt\":\"a\"} \r\n", limits));
  CHECK(parse_completion(R"({"prompt":"\ud83d\ude00\u0000"})", limits));
}

TEST_CASE("a name that comes twice in one object is refused") {
  chat_refused(R"(,"temperature":0,"temperature":1)", invalid_value, "temperature");
  chat_refused(R"(,"temperature":0,"temp\u0065rature":0)", invalid_value,
               "temperature");
  refused(parse_completion(R"({"prompt":"a","prompt":"b"})", limits), invalid_value,
          "prompt");
  refused(parse_chat(R"({"messages":[{"role":"user","role":"system","content":""}]})",
                     limits),
          invalid_value, "role");
  CHECK(parse_chat(R"({"messages":[{"role":"user","content":"a"},)"
                   R"({"content":"b","role":"user"}]})",
                   limits)); // once in each
  std::string many = R"({"prompt":"a")";
  for (int i = 0; i < 3000; ++i)
    many += ",\"" + std::to_string(i) + "\":null";
  refused(parse_completion(many + "}", limits), invalid_json, "");
}

TEST_CASE("a body that nests deeply is refused without a deep stack") {
  for (std::size_t depth : {body_depth_max + 1, std::size_t{100000}}) {
    auto body = R"({"prompt":)" + std::string(depth, '[');
    auto got = parse_completion(body, limits);
    refused(got, invalid_json, "");
    CHECK(got.error().message.find("16 levels") != std::string::npos);
  }
}

TEST_CASE("numbers of the wrong type or out of range are refused by name") {
  for (std::string name :
       {"temperature", "top_p", "min_p", "repetition_penalty", "frequency_penalty",
        "presence_penalty", "max_tokens", "min_tokens", "seed", "n", "top_k"}) {
    chat_refused(R"(,")" + name + R"(":"1")", invalid_type, name);
    chat_refused(R"(,")" + name + R"(":true)", invalid_type, name);
    chat_refused(R"(,")" + name + R"(":[1])", invalid_type, name);
    chat_refused(R"(,")" + name + R"(":1e999)", invalid_value, name);
    chat_refused(R"(,")" + name + R"(":-1e999)", invalid_value, name);
    if (name != "seed") // any 64 bits will do
      chat_refused(R"(,")" + name + R"(":-3)", invalid_value, name);
  }
  for (std::string name : {"max_tokens", "min_tokens", "n", "top_k", "seed"}) {
    chat_refused(R"(,")" + name + R"(":1.5)", invalid_type, name);
    chat_refused(R"(,")" + name + R"(":1e30)", invalid_value, name);
  }
  chat_refused(R"(,"max_tokens":4294967296)", invalid_value, "max_tokens");
  chat_refused(R"(,"max_tokens":18446744073709551615)", invalid_value, "max_tokens");
  chat_refused(R"(,"temperature":100.5)", invalid_value, "temperature");
  chat_refused(R"(,"top_p":0)", invalid_value, "top_p");
  chat_refused(R"(,"repetition_penalty":0)", invalid_value, "repetition_penalty");
  chat_refused(R"(,"n":0)", invalid_value, "n");
  chat_refused(R"(,"n":65)", invalid_value, "n");
  CHECK(chat_of(R"(,"max_tokens":5.0)").tokens_max == 5u);
  CHECK(chat_of(R"(,"top_k":-1)").sampling.top_k == 0);
  CHECK(parse_chat(chat_with(R"(,"seed":1e30)"), limits).error().message
        == "`seed` must be an integer from -9223372036854775808 to "
           "18446744073709551615");
  CHECK(chat_of(R"(,"seed":18446744073709551615)").sampling.seed
        == 18446744073709551615u);
}

TEST_CASE("max_tokens and its later name agree, or one of them is absent") {
  CHECK(chat_of(R"(,"max_completion_tokens":7)").tokens_max == 7u);
  CHECK(chat_of(R"(,"max_completion_tokens":0)").tokens_max == 0u);
  CHECK(chat_of(R"(,"max_tokens":7,"max_completion_tokens":7)").tokens_max == 7u);
  chat_refused(R"(,"max_tokens":7,"max_completion_tokens":8)", invalid_value,
               "max_completion_tokens");
  completion_refused(R"(,"max_completion_tokens":7)", unknown_parameter,
                     "max_completion_tokens");
  chat_refused(R"(,"max_tokens":7,"min_tokens":8)", invalid_value, "min_tokens");
}

TEST_CASE("logprobs are a switch in a chat and a number in a completion") {
  CHECK(chat_of(R"(,"logprobs":true)").sampling.logprobs == 0);
  CHECK(chat_of(R"(,"logprobs":false)").sampling.logprobs == -1);
  CHECK(completion_of(R"(,"logprobs":0)").sampling.logprobs == 0);
  CHECK(completion_of(R"(,"logprobs":20)").sampling.logprobs == 20);
  chat_refused(R"(,"logprobs":2)", invalid_type, "logprobs");
  chat_refused(R"(,"top_logprobs":2)", invalid_value, "top_logprobs");
  chat_refused(R"(,"logprobs":true,"top_logprobs":21)", invalid_value, "top_logprobs");
  completion_refused(R"(,"logprobs":true)", invalid_type, "logprobs");
  completion_refused(R"(,"logprobs":21)", invalid_value, "logprobs");
  completion_refused(R"(,"top_logprobs":2)", unknown_parameter, "top_logprobs");
}

TEST_CASE("stop strings are one or a few, and never empty") {
  CHECK(chat_of(R"(,"stop":"a")").stops == std::vector<std::string>{"a"});
  CHECK(chat_of(R"(,"stop":["a","b"])").stops.size() == 2);
  CHECK(chat_of(R"(,"stop":[])").stops.empty());
  chat_refused(R"(,"stop":"")", invalid_value, "stop");
  chat_refused(R"(,"stop":["a",""])", invalid_value, "stop[1]");
  chat_refused(R"(,"stop":["a",7])", invalid_type, "stop[1]");
  chat_refused(R"(,"stop":7)", invalid_type, "stop");
  chat_refused(R"(,"stop":")" + std::string(257, 'x') + R"(")", invalid_value, "stop");
  std::string many = R"(,"stop":["a")";
  for (std::size_t i = 0; i < limits.stops_max; ++i)
    many += R"(,"a")";
  chat_refused(many + "]", invalid_value, "stop");
}

TEST_CASE("logit_bias names tokens of the vocabulary") {
  chat_refused(R"(,"logit_bias":{"1000":1})", invalid_value, "logit_bias.1000");
  chat_refused(R"(,"logit_bias":{"-1":1})", invalid_value, "logit_bias.-1");
  chat_refused(R"(,"logit_bias":{"x":1})", invalid_value, "logit_bias.x");
  chat_refused(R"(,"logit_bias":{"1":"x"})", invalid_type, "logit_bias.1");
  chat_refused(R"(,"logit_bias":{"1":101})", invalid_value, "logit_bias.1");
  chat_refused(R"(,"logit_bias":{"2":1,"1":-100.5})", invalid_value, "logit_bias.1");
  chat_refused(R"(,"logit_bias":{"05":1})", invalid_value, "logit_bias.05");
  chat_refused(R"(,"logit_bias":{"5":1,"5":2})", invalid_value, "5");
  CHECK(chat_of(R"(,"logit_bias":{"0":100})").sampling.logit_bias.size() == 1);
  chat_refused(R"(,"logit_bias":[])", invalid_type, "logit_bias");
}

TEST_CASE("stream_options are for streams, and have include_usage alone") {
  auto got = chat_of(R"(,"stream":true,"stream_options":{"include_usage":true})");
  CHECK(got.stream);
  CHECK(got.include_usage);
  chat_refused(R"(,"stream_options":{"include_usage":true})", invalid_value,
               "stream_options");
  chat_refused(R"(,"stream":true,"stream_options":{"include_usage":1})", invalid_type,
               "stream_options.include_usage");
  chat_refused(R"(,"stream":true,"stream_options":{"continuous_usage_stats":true})",
               unsupported_parameter, "stream_options.continuous_usage_stats");
  chat_refused(R"(,"stream":true,"stream_options":7)", invalid_type, "stream_options");
}

TEST_CASE("prompts times n is limited") {
  auto got = parse_completion(R"({"prompt":["a","b","c"],"n":21})", limits);
  REQUIRE(got);
  CHECK(got->choices() == 63);
  refused(parse_completion(R"({"prompt":["a","b","c"],"n":22})", limits), invalid_value,
          "n");
}

TEST_CASE("answers are not chosen from") {
  CHECK(completion_of(R"(,"n":2,"best_of":2)").n == 2);
  completion_refused(R"(,"n":2,"best_of":3)", unsupported_parameter, "best_of");
}

TEST_CASE("an unknown model is not found, and an absent one is the one served") {
  CHECK(chat_of(R"(,"model":"smol")").model == "smol");
  chat_refused(R"(,"model":"gpt-4")", model_not_found, "model");
  chat_refused(R"(,"model":7)", invalid_type, "model");
}

TEST_CASE("an unknown parameter is refused, with the nearest name") {
  auto got = parse_chat(chat_with(R"(,"temprature":1)"), limits);
  refused(got, unknown_parameter, "temprature");
  CHECK(got.error().message.find("`temperature`") != std::string::npos);
  auto message_of = [](const std::string& name) {
    auto wrong = parse_chat(chat_with(",\"" + name + "\":1"), limits);
    REQUIRE_FALSE(wrong);
    return wrong.error().message;
  };
  CHECK(message_of("top_P") == "there is no parameter `top_P`; did you mean `top_p`?");
  CHECK(message_of("MAX_TOKENS").ends_with("did you mean `max_tokens`?"));
  CHECK(message_of("x") == "there is no parameter `x`");
  CHECK(message_of("ns") == "there is no parameter `ns`");
  CHECK(message_of("max_completion_tokens" + std::string(20, 'x')).ends_with("x`"));
  auto far = parse_chat(chat_with(R"(,"zzz":null)"), limits);
  refused(far, unknown_parameter, "zzz");
  CHECK(far.error().message.find("did you mean") == std::string::npos);
}

} // namespace perigee::gateway
