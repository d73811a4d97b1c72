#include "actors/gateway/unsupported.hpp"

namespace perigee::gateway {
namespace {

using value_ref = const json::value&;

bool never(value_ref) {
  return false;
}

bool if_empty(value_ref value) {
  return (value.is_array() && value.get_array().empty())
         || (value.is_object() && value.get_object().empty())
         || (value.is_string() && value.get_string().empty());
}

bool if_false(value_ref value) {
  return value.is_bool() && !value.get_bool();
}

bool if_true(value_ref value) {
  return value.is_bool() && value.get_bool();
}

bool if_bool(value_ref value) {
  return value.is_bool();
}

bool if_none(value_ref value) {
  return value.is_string() && value.get_string() == "none";
}

bool if_zero(value_ref value) {
  return value.is_number() && value.to_number<double>() == 0;
}

bool if_one(value_ref value) {
  return value.is_number() && value.to_number<double>() == 1;
}

bool if_object(value_ref value) {
  return value.is_object();
}

bool if_string(value_ref value) {
  return value.is_string();
}

bool if_default_tier(value_ref value) {
  return value.is_string()
         && (value.get_string() == "auto" || value.get_string() == "default");
}

bool if_text_format(value_ref value) {
  if (!value.is_object())
    return false;
  auto* type = value.get_object().if_contains("type");
  return value.get_object().size() == 1 && type && type->is_string()
         && type->get_string() == "text";
}

bool if_text_modality(value_ref value) {
  return value.is_array() && value.get_array().size() == 1
         && value.get_array()[0].is_string()
         && value.get_array()[0].get_string() == "text";
}

constexpr auto no_tools = "this server calls no tools";
constexpr auto no_guide = "answers cannot be held to a grammar or schema";
constexpr auto no_audio = "this server answers in text alone";
constexpr auto no_beams = "there is no beam search";
constexpr auto no_search = "this server searches nothing";
constexpr auto no_store = "this server keeps no conversations";
constexpr auto one_way = "this server does it in one way only";
constexpr auto no_effort = "the models served do not reason by degrees";
constexpr auto own_template = "the chat template is the server's";
constexpr auto one_tier = "all requests have the same tier";

} // namespace

const std::map<std::string_view, unsupported>& unsupported_parameters() {
  static const std::map<std::string_view, unsupported> all{
    {"add_generation_prompt", {one_way, if_true}},
    {"allowed_token_ids", {no_guide, never}},
    {"audio", {no_audio, never}},
    {"bad_words", {"use logit_bias", if_empty}},
    {"best_of", {"answers are not chosen from; `n` says how many come", if_one}},
    {"cache_prompt", {"prefixes are always cached; set cache_salt to part", if_true}},
    {"chat_template", {own_template, never}},
    {"chat_template_kwargs", {own_template, if_empty}},
    {"continue_final_message", {one_way, if_false}},
    {"documents", {own_template, if_empty}},
    {"early_stopping", {no_beams, if_false}},
    {"function_call", {no_tools, if_none}},
    {"functions", {no_tools, if_empty}},
    {"grammar", {no_guide, if_empty}},
    {"guided_choice", {no_guide, never}},
    {"guided_grammar", {no_guide, never}},
    {"guided_json", {no_guide, never}},
    {"guided_regex", {no_guide, never}},
    {"include_stop_str_in_output", {one_way, if_false}},
    {"json_schema", {no_guide, never}},
    {"kv_transfer_params", {"the Conductor decides where KV goes", never}},
    {"length_penalty", {no_beams, if_one}},
    {"metadata", {no_store, if_object}},
    {"modalities", {no_audio, if_text_modality}},
    {"parallel_tool_calls", {no_tools, if_bool}},
    {"prediction", {"drafts are not checked", never}},
    {"priority", {one_tier, if_zero}},
    {"prompt_cache_key", {no_store, if_string}},
    {"prompt_logprobs", {"a completion has them with `echo` and `logprobs`", never}},
    {"reasoning_effort", {no_effort, never}},
    {"response_format", {no_guide, if_text_format}},
    {"return_token_ids", {"POST /tokenize gives the ids", if_false}},
    {"return_tokens_as_token_ids", {"POST /tokenize gives the ids", if_false}},
    {"safety_identifier", {no_store, if_string}},
    {"service_tier", {one_tier, if_default_tier}},
    {"skip_special_tokens", {one_way, if_true}},
    {"spaces_between_special_tokens", {one_way, if_true}},
    {"store", {no_store, if_false}},
    {"structured_outputs", {no_guide, never}},
    {"suffix", {"text is not filled in between", if_empty}},
    {"tool_choice", {no_tools, if_none}},
    {"tools", {no_tools, if_empty}},
    {"truncate_prompt_tokens", {"prompts are not cut", never}},
    {"use_beam_search", {no_beams, if_false}},
    {"verbosity", {no_effort, never}},
    {"web_search_options", {no_search, never}},
  };
  return all;
}

} // namespace perigee::gateway
