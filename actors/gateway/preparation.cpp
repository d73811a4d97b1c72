#include "actors/gateway/preparation.hpp"

#include "actors/block_keys.hpp"

#include <algorithm>

namespace perigee::gateway {
namespace {

api_error invalid(std::string message, std::string param) {
  return {api_code::invalid_value, std::move(message), std::move(param), {}};
}

api_error to_error(engine::encode_fault why, const std::string& param,
                   std::size_t most) {
  switch (why) {
    case engine::encode_fault::text_too_long:
      return invalid("`" + param + "` has more than "
                       + std::to_string(engine::text_bytes_max) + " bytes",
                     param);
    case engine::encode_fault::too_many_tokens:
      return {api_code::context_length_exceeded,
              "`" + param + "` has more than " + std::to_string(most) + " tokens",
              param,
              {}};
    case engine::encode_fault::too_intricate: break;
  }
  return invalid("`" + param + "` is too intricate to be cut into words", param);
}

template <class Tokens>
api_result<token_list> or_error(Tokens tokens, const std::string& param,
                                std::size_t most) {
  if (!tokens)
    return failure(to_error(tokens.error(), param, most));
  return std::move(*tokens);
}

engine::message to_message(const chat_turn& turn) {
  return {engine::role_of(turn.role).value_or(engine::role::user), turn.text};
}

api_result<token_list> tokens_of_chat(const dialogue& turns, const served_model& model,
                                      std::size_t most) {
  if (!model.talk)
    return failure(api_error{api_code::unsupported_parameter,
                             "`messages` is not supported: this model has no chat "
                             "template",
                             "messages",
                             {}});
  std::vector<engine::message> messages;
  messages.reserve(turns.size());
  std::transform(turns.begin(), turns.end(), std::back_inserter(messages), to_message);
  auto parts = model.talk->render(messages, model.ends);
  if (!parts) {
    auto where = "messages[" + std::to_string(parts.error().message) + "]";
    return failure(invalid("`" + where + "`: " + parts.error().expected, where));
  }
  return or_error(model.words->encode(engine::segments_of(*parts),
                                      engine::ends::as_the_file_asks, most),
                  "messages", most);
}

/// All tokens that end an answer.
void add_end_tokens(engine::sampling_params& sampling, const served_model& model) {
  auto& all = sampling.stop_token_ids;
  auto ends = model.words->end_tokens();
  all.insert(all.end(), ends.begin(), ends.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

std::string context_text(std::uint32_t context) {
  return "the model's context is " + std::to_string(context) + " tokens, and ";
}

std::string param_of(const api_request& asked) {
  return asked.kind == api_kind::chat ? "messages" : "prompt";
}

api_error prompt_too_long(const std::string& prompt_tokens, const std::string& param,
                          std::uint32_t context) {
  return {api_code::context_length_exceeded,
          context_text(context) + "`" + param + "` has " + prompt_tokens,
          param,
          {}};
}

api_error answer_too_long(std::size_t prompt, std::uint64_t answer,
                          std::uint32_t context) {
  return {api_code::context_length_exceeded,
          context_text(context) + "the prompt has " + std::to_string(prompt)
            + ", the answer up to " + std::to_string(answer) + " more",
          "max_tokens",
          {}};
}

api_result<std::uint32_t> answer_tokens_max(const api_request& asked,
                                            std::size_t prompt, std::uint32_t context) {
  auto answer_min = asked.tokens_max.value_or(1) == 0 ? 0u : 1u;
  if (prompt + answer_min > context)
    return failure(prompt_too_long(
      std::to_string(prompt) + (prompt == context ? ": an answer has no room" : ""),
      param_of(asked), context));
  auto left = context - static_cast<std::uint32_t>(prompt);
  if (asked.tokens_max) {
    if (*asked.tokens_max > left)
      return failure(answer_too_long(prompt, *asked.tokens_max, context));
    return *asked.tokens_max;
  }
  return asked.kind == api_kind::chat ? left
                                      : std::min(left, completion_tokens_default);
}

/// Who is somewhat above the context is told by how much; beyond, nobody counts on.
std::size_t tokens_counted_max(const served_model& model) {
  return std::min(prompt_tokens_max, std::size_t{2} * model.context_tokens_max);
}

api_result<prepared_prompt> prepare_one(const prompt_form& from,
                                        const api_request& asked,
                                        const served_model& model) {
  prepared_prompt out;
  auto name = param_of(asked);
  auto counted = tokens_counted_max(model);
  auto tokens = tokens_of(from, model, true, counted);
  if (!tokens && tokens.error().code == api_code::context_length_exceeded)
    return failure(prompt_too_long("more than " + std::to_string(counted), name,
                                   model.context_tokens_max));
  if (!tokens)
    return failure(tokens.error());
  out.tokens = std::move(*tokens);
  if (out.tokens.empty())
    return failure(invalid("`" + name + "` must not be empty", name));
  auto most = answer_tokens_max(asked, out.tokens.size(), model.context_tokens_max);
  if (!most)
    return failure(most.error());
  out.tokens_max = *most;
  if (asked.sampling.min_tokens > out.tokens_max)
    return failure(invalid("`min_tokens` must be at most what the answer may have, "
                             + std::to_string(out.tokens_max),
                           "min_tokens"));
  if (asked.echo && asked.sampling.logprobs < 0) {
    auto* text = std::get_if<std::string>(&from);
    out.echo = text ? *text : model.words->decode(out.tokens);
  }
  out.root = root_key({.model_digest = model.info.digest,
                       .kv_element_bytes = model.layout.element_bytes,
                       .block_tokens = model.layout.block_tokens,
                       .layers = model.layout.layers,
                       .heads = model.layout.heads,
                       .head_dim = model.layout.head_dim,
                       .salt = asked.cache_salt});
  out.chain = keys_of(out.root, out.tokens, model.layout.block_tokens);
  return out;
}

} // namespace

api_limits limits_of(const served_model& model) {
  api_limits limits;
  limits.model = model.name;
  limits.vocabulary = static_cast<std::uint32_t>(model.words->size());
  return limits;
}

api_result<token_list> tokens_of(const prompt_form& from, const served_model& model,
                                 bool add_special_tokens, std::size_t most) {
  if (auto* turns = std::get_if<dialogue>(&from))
    return tokens_of_chat(*turns, model, most);
  if (auto* tokens = std::get_if<token_list>(&from))
    return *tokens;
  auto added = add_special_tokens ? engine::ends::as_the_file_asks : engine::ends::none;
  return or_error(model.words->encode(std::get<std::string>(from), added, most),
                  "prompt", most);
}

api_result<prepared_request> prepare(api_request asked, const served_model& model) {
  prepared_request out;
  for (const auto& one : asked.prompts) {
    auto ready = prepare_one(one, asked, model);
    if (!ready)
      return failure(ready.error());
    out.prompts.push_back(std::move(*ready));
  }
  out.asked = std::move(asked);
  out.asked.prompts.clear();
  if (!out.asked.ignore_eos)
    add_end_tokens(out.asked.sampling, model);
  return out;
}

} // namespace perigee::gateway
