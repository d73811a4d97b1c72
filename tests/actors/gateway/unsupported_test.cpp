#include "actors/gateway/request_parser.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

std::string member(const std::string& name, const std::string& value) {
  return '"' + name + "\":" + value;
}

std::string quoted(const std::string& name) {
  return '`' + name + '`';
}

const api_limits limits{.model = "smol", .vocabulary = 1000};

api_result<api_request> with(const std::string& more) {
  return parse_chat(R"({"messages":[{"role":"user","content":"hi"}],)" + more + "}",
                    limits);
}

} // namespace

TEST_CASE("what is known and not supported is refused by its name") {
  struct wish {
    std::string name;
    std::string value;
  };
  for (const auto& [name, value] : std::vector<wish>{
         {"tools", R"([{"type":"function"}])"},
         {"tool_choice", R"("auto")"},
         {"functions", "[{}]"},
         {"function_call", R"("auto")"},
         {"response_format", R"({"type":"json_object"})"},
         {"response_format", R"({"type":"text","more":1})"},
         {"response_format", R"("text")"},
         {"modalities", R"(["text","audio"])"},
         {"audio", "{}"},
         {"suffix", R"("x")"},
         {"prompt_logprobs", "1"},
         {"best_of", "2"},
         {"store", "true"},
         {"service_tier", R"("flex")"},
         {"reasoning_effort", R"("low")"},
         {"use_beam_search", "true"},
         {"length_penalty", "0.5"},
         {"length_penalty", R"("1")"},
         {"guided_json", "{}"},
         {"structured_outputs", "{}"},
         {"chat_template", R"("x")"},
         {"metadata", "7"},
       }) {
    INFO(name << ": " << value);
    auto got = with(member(name, value));
    REQUIRE_FALSE(got);
    CHECK(got.error().code == api_code::unsupported_parameter);
    CHECK(got.error().param == name);
    CHECK(got.error().message.find(quoted(name)) != std::string::npos);
  }
}

TEST_CASE("a value that asks for nothing may stand") {
  for (const auto* field :
       {R"("tools":[])", R"("tool_choice":"none")", R"("parallel_tool_calls":true)",
        R"("response_format":{"type":"text"})", R"("modalities":["text"])",
        R"("store":false)", R"("metadata":{"a":"b"})", R"("service_tier":"auto")",
        R"("use_beam_search":false)", R"("length_penalty":1.0)", R"("suffix":"")",
        R"("guided_json":null)", R"("best_of":1)", R"("skip_special_tokens":true)",
        R"("priority":0)", R"("safety_identifier":"x")"}) {
    INFO(field);
    CHECK(with(field));
  }
}

} // namespace perigee::gateway
