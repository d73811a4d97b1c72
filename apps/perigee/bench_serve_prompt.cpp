#include "apps/perigee/bench_serve_prompt.hpp"

#include "actors/gateway/json_text.hpp"
#include "actors/runtime/name.hpp"
#include "schemas/assert.hpp"

#include <algorithm>

namespace perigee::app {

std::vector<std::uint32_t> tokens_of(const workload::request& one,
                                     const prompt_material& from) {
  PERIGEE_ASSERT(from.token_first <= from.token_last, "there are tokens");
  std::uint64_t choices = from.token_last - from.token_first + std::uint64_t{1};
  std::vector<std::uint32_t> tokens(one.input_tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    auto block = i / from.block_tokens;
    PERIGEE_ASSERT(block < one.block_ids.size(), "every block has an id");
    auto place = rt::mix(rt::mix(one.block_ids[block] ^ rt::mix(from.seed))
                         + i % from.block_tokens);
    tokens[i] = from.token_first + static_cast<std::uint32_t>(place % choices);
  }
  return tokens;
}

std::string body_of(const workload::request& one, const prompt_material& from) {
  std::string body = "{";
  if (!from.model.empty()) {
    body += "\"model\":";
    gateway::append_json_string(body, from.model);
    body += ',';
  }
  body += "\"prompt\":[";
  const char* before = "";
  for (auto token : tokens_of(one, from)) {
    body += before + std::to_string(token);
    before = ",";
  }
  return body + "],\"max_tokens\":" + std::to_string(std::max(one.output_tokens, 1u))
         + ",\"ignore_eos\":true,\"temperature\":0,\"stream\":true,"
           "\"stream_options\":{\"include_usage\":true}}";
}

} // namespace perigee::app
