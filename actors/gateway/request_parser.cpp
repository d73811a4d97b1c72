#include "actors/gateway/request_parser.hpp"

#include "actors/gateway/prompt_parser.hpp"
#include "actors/gateway/unsupported.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace perigee::gateway {
namespace {

using value_ref = const json::value&;
using name = std::string_view;

constexpr std::int64_t any_count = std::numeric_limits<std::uint32_t>::max();

/// A request as far as it was read, and what can be judged only once all was.
struct draft {
  explicit draft(const api_limits& by) : limits(by) {}

  const api_limits& limits;
  api_request out;
  std::optional<std::int64_t> completion_tokens_max;
  std::optional<std::int64_t> top_logprobs;
  std::optional<std::int64_t> best_of;
  bool logprobs = false;
  bool stream_options = false;
};

using field = fault (*)(draft&, value_ref, name);
using fields = std::map<name, field>;

// -- one parameter ------------------------------------------------------------

template <auto Member>
fault number(draft& to, value_ref value, name where) {
  return read_number(to.out.sampling.*Member, value, where);
}

template <auto Member>
fault flag(draft& to, value_ref value, name where) {
  return read_bool(to.out.*Member, value, where);
}

template <auto Member>
fault label(draft& to, value_ref value, name where) {
  return read_text(to.out.*Member, value, where, to.limits.label_bytes_max);
}

template <auto Member>
fault whole(draft& to, value_ref value, name where) {
  return read_whole((to.*Member).emplace(), value, where, 0, any_count);
}

fault model(draft& to, value_ref value, name where) {
  return read_text(to.out.model, value, where, 1024);
}

fault messages(draft& to, value_ref value, name where) {
  auto& turns = to.out.prompts.emplace_back().emplace<dialogue>();
  return read_messages(turns, value, where, to.limits);
}

fault prompts(draft& to, value_ref value, name where) {
  return read_prompts(to.out.prompts, value, where, to.limits);
}

fault answers(draft& to, value_ref value, name where) {
  std::int64_t n = 0;
  if (auto wrong = read_whole(n, value, where, 1,
                              static_cast<std::int64_t>(to.limits.choices_max)))
    return wrong;
  to.out.n = static_cast<std::uint32_t>(n);
  return {};
}

fault tokens_max(draft& to, value_ref value, name where) {
  std::int64_t most = 0;
  if (auto wrong = read_whole(most, value, where, 0, any_count))
    return wrong;
  to.out.tokens_max = static_cast<std::uint32_t>(most);
  return {};
}

fault min_tokens(draft& to, value_ref value, name where) {
  std::int64_t least = 0;
  if (auto wrong = read_whole(least, value, where, 0, any_count))
    return wrong;
  to.out.sampling.min_tokens = static_cast<std::uint32_t>(least);
  return {};
}

fault top_k(draft& to, value_ref value, name where) {
  std::int64_t k = 0;
  if (auto wrong = read_whole(k, value, where, -1, any_count))
    return wrong;
  to.out.sampling.top_k = static_cast<std::uint32_t>(std::max<std::int64_t>(k, 0));
  return {};
}

fault seed(draft& to, value_ref value, name where) {
  using limits = std::numeric_limits<std::int64_t>;
  std::int64_t number = 0;
  if (value.is_uint64())
    number = static_cast<std::int64_t>(value.get_uint64());
  else if (auto wrong
           = read_whole(number, value, where, limits::min(), limits::max())) {
    auto expected = "an integer from " + std::to_string(limits::min()) + " to "
                    + std::to_string(std::numeric_limits<std::uint64_t>::max());
    return wrong->code == api_code::invalid_type ? wrong_type(where, expected)
                                                 : wrong_value(where, expected);
  }
  to.out.sampling.seed = static_cast<std::uint64_t>(number);
  to.out.seeded = true;
  return {};
}

fault chat_logprobs(draft& to, value_ref value, name where) {
  return read_bool(to.logprobs, value, where);
}

fault completion_logprobs(draft& to, value_ref value, name where) {
  std::int64_t top = 0;
  if (auto wrong = read_whole(top, value, where, 0, engine::logprobs_max))
    return wrong;
  to.out.sampling.logprobs = static_cast<int>(top);
  return {};
}

fault top_logprobs(draft& to, value_ref value, name where) {
  return read_whole(to.top_logprobs.emplace(), value, where, 0, engine::logprobs_max);
}

fault stop(draft& to, value_ref value, name where) {
  auto read = [&](value_ref one, name place) -> fault {
    auto& text = to.out.stops.emplace_back();
    if (auto wrong = read_text(text, one, place, to.limits.stop_bytes_max))
      return wrong;
    return text.empty() ? must_not_be_empty(place) : fault{};
  };
  if (value.is_string())
    return read(value, where);
  if (!value.is_array())
    return wrong_type(where, "a string or a list of strings");
  const auto& list = value.get_array();
  if (list.size() > to.limits.stops_max)
    return wrong_value(where, "a list of at most " + std::to_string(to.limits.stops_max)
                                + " strings");
  for (std::size_t i = 0; i < list.size(); ++i)
    if (auto wrong = read(list[i], item(where, i)))
      return wrong;
  return {};
}

fault stop_token_ids(draft& to, value_ref value, name where) {
  return read_tokens(to.out.sampling.stop_token_ids, value, where, to.limits,
                     to.limits.stop_tokens_max);
}

fault logit_bias(draft& to, value_ref value, name where) {
  if (!value.is_object())
    return wrong_type(where, "an object of token ids and numbers");
  const auto& all = value.get_object();
  if (all.size() > engine::logit_bias_max)
    return wrong_value(where, "an object of at most "
                                + std::to_string(engine::logit_bias_max) + " tokens");
  for (const auto& [key, bias] : all) {
    auto place = member(where, key);
    token_id token = 0;
    auto end = key.data() + key.size();
    auto [stopped, error] = std::from_chars(key.data(), end, token);
    bool is_padded = key.size() > 1 && key.front() == '0';
    if (error != std::errc{} || stopped != end || is_padded
        || token >= to.limits.vocabulary)
      return wrong_value(place, "named by a token id below "
                                  + std::to_string(to.limits.vocabulary));
    double by = 0;
    if (auto wrong = read_number(by, bias, place))
      return wrong;
    if (!(by >= -100 && by <= 100))
      return wrong_value(place, "a number from -100 to 100");
    to.out.sampling.logit_bias.emplace_back(token, by);
  }
  std::sort(to.out.sampling.logit_bias.begin(), to.out.sampling.logit_bias.end());
  return {};
}

fault stream_options(draft& to, value_ref value, name where) {
  if (!value.is_object())
    return wrong_type(where, R"(an object, as {"include_usage": true})");
  to.stream_options = true;
  for (const auto& [key, option] : value.get_object()) {
    auto place = member(where, key);
    if (option.is_null())
      continue;
    if (key == "include_usage") {
      if (auto wrong = read_bool(to.out.include_usage, option, place))
        return wrong;
    } else if (!option.is_bool() || option.get_bool()) {
      return not_supported(place, "a stream has `include_usage` alone");
    }
  }
  return {};
}

/// What both APIs have.
const fields& common_fields() {
  using how = engine::sampling_params;
  static const fields all{
    {"model", model},
    {"n", answers},
    {"max_tokens", tokens_max},
    {"min_tokens", min_tokens},
    {"temperature", number<&how::temperature>},
    {"top_p", number<&how::top_p>},
    {"min_p", number<&how::min_p>},
    {"top_k", top_k},
    {"repetition_penalty", number<&how::repetition_penalty>},
    {"frequency_penalty", number<&how::frequency_penalty>},
    {"presence_penalty", number<&how::presence_penalty>},
    {"seed", seed},
    {"logit_bias", logit_bias},
    {"stop", stop},
    {"stop_token_ids", stop_token_ids},
    {"ignore_eos", flag<&api_request::ignore_eos>},
    {"stream", flag<&api_request::stream>},
    {"stream_options", stream_options},
    {"cache_salt", label<&api_request::cache_salt>},
    {"user", label<&api_request::user>},
  };
  return all;
}

fields joined(fields more) {
  more.insert(common_fields().begin(), common_fields().end());
  return more;
}

const fields& chat_fields() {
  static const fields all = joined({
    {"messages", messages},
    {"max_completion_tokens", whole<&draft::completion_tokens_max>},
    {"logprobs", chat_logprobs},
    {"top_logprobs", top_logprobs},
  });
  return all;
}

const fields& completion_fields() {
  static const fields all = joined({
    {"prompt", prompts},
    {"echo", flag<&api_request::echo>},
    {"best_of", whole<&draft::best_of>},
    {"logprobs", completion_logprobs},
  });
  return all;
}

// -- all of them --------------------------------------------------------------

fault judge_unread(name key, value_ref value, const fields& known) {
  const auto& unsupported = unsupported_parameters();
  auto found = unsupported.find(key);
  if (found == unsupported.end())
    return unknown_parameter(key, known);
  if (value.is_null() || found->second.asks_nothing(value))
    return {};
  return not_supported(key, found->second.why);
}

fault read_all(draft& to, const json::object& body, const fields& known) {
  for (const auto& [key, value] : body) {
    name where{key.data(), key.size()};
    auto found = known.find(where);
    fault wrong;
    if (found == known.end())
      wrong = judge_unread(where, value, known);
    else if (!value.is_null())
      wrong = found->second(to, value, where);
    if (wrong)
      return wrong;
  }
  return {};
}

fault judge_tokens_max(draft& of) {
  auto& out = of.out;
  if (auto most = of.completion_tokens_max) {
    if (out.tokens_max && *out.tokens_max != *most)
      return wrong_value("max_completion_tokens", "the same as max_tokens, or alone");
    out.tokens_max = static_cast<std::uint32_t>(*most);
  }
  if (out.tokens_max && out.sampling.min_tokens > *out.tokens_max)
    return wrong_value("min_tokens", "at most max_tokens");
  return {};
}

fault judge_logprobs(draft& of) {
  if (of.top_logprobs && !of.logprobs)
    return wrong_value("top_logprobs", "absent unless logprobs is true");
  if (of.logprobs)
    of.out.sampling.logprobs = static_cast<int>(of.top_logprobs.value_or(0));
  return {};
}

fault judge_choices(const draft& of) {
  if (of.out.choices() > of.limits.choices_max)
    return wrong_value("n", "such that prompts times n is at most "
                              + std::to_string(of.limits.choices_max));
  if (of.best_of && *of.best_of != of.out.n)
    return not_supported("best_of", "answers are not chosen from; leave it out");
  return {};
}

fault judge_all(draft& of) {
  if (auto served = judge_model(of.out.model, of.limits); !served)
    return served.error();
  if (of.out.prompts.empty())
    return of.out.kind == api_kind::chat ? missing("messages", "a list of messages")
                                         : missing("prompt", prompt_forms);
  if (of.stream_options && !of.out.stream)
    return wrong_value("stream_options", "absent unless stream is true");
  if (auto wrong = judge_tokens_max(of))
    return wrong;
  if (auto wrong = judge_logprobs(of))
    return wrong;
  if (auto wrong = judge_choices(of))
    return wrong;
  if (auto wrong = engine::find_param_fault(of.out.sampling, of.limits.vocabulary))
    return wrong_value(wrong->parameter, wrong->expected);
  return {};
}

api_result<api_request> parse(std::string_view body, const api_limits& limits,
                              api_kind kind, const fields& known) {
  auto object = read_object(body);
  if (!object)
    return failure(object.error());
  draft to{limits};
  to.out.kind = kind;
  if (auto wrong = read_all(to, *object, known))
    return failure(*wrong);
  if (auto wrong = judge_all(to))
    return failure(*wrong);
  return std::move(to.out);
}

} // namespace

api_result<void> judge_model(std::string_view model, const api_limits& limits) {
  if (model.empty() || model == limits.model)
    return {};
  auto text = "there is no model `" + std::string{model.substr(0, 128)}
              + "`; this server has `" + limits.model + "`";
  return failure(api_error{api_code::model_not_found, text, "model", {}});
}

api_result<api_request> parse_chat(std::string_view body, const api_limits& limits) {
  return parse(body, limits, api_kind::chat, chat_fields());
}

api_result<api_request> parse_completion(std::string_view body,
                                         const api_limits& limits) {
  return parse(body, limits, api_kind::completion, completion_fields());
}

} // namespace perigee::gateway
