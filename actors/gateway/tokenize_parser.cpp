#include "actors/gateway/prompt_parser.hpp"
#include "actors/gateway/request_parser.hpp"

#include <limits>
#include <map>

namespace perigee::gateway {
namespace {

template <class Draft>
using field
  = fault (*)(Draft&, const json::value&, std::string_view, const api_limits&);
template <class Draft>
using fields = std::map<std::string_view, field<Draft>>;

template <class Draft>
fault model(Draft& to, const json::value& value, std::string_view where,
            const api_limits&) {
  return read_text(to.model, value, where, 1024);
}

template <class Draft>
api_result<Draft> parse(std::string_view body, const api_limits& limits,
                        const fields<Draft>& known) {
  auto object = read_object(body);
  if (!object)
    return failure(object.error());
  Draft to;
  for (const auto& [key, value] : *object) {
    std::string_view where{key.data(), key.size()};
    auto found = known.find(where);
    if (found == known.end())
      return failure(*unknown_parameter(where, known));
    if (!value.is_null())
      if (auto wrong = found->second(to, value, where, limits))
        return failure(*wrong);
  }
  if (auto served = judge_model(to.model, limits); !served)
    return failure(served.error());
  return to;
}

struct tokenize_draft {
  std::string model;
  std::optional<std::string> text;
  std::optional<dialogue> turns;
  bool add_special_tokens = true;
};

fault prompt_text(tokenize_draft& to, const json::value& value, std::string_view where,
                  const api_limits&) {
  return read_text(to.text.emplace(), value, where,
                   std::numeric_limits<std::size_t>::max());
}

fault messages(tokenize_draft& to, const json::value& value, std::string_view where,
               const api_limits& limits) {
  return read_messages(to.turns.emplace(), value, where, limits);
}

fault special_tokens(tokenize_draft& to, const json::value& value,
                     std::string_view where, const api_limits&) {
  return read_bool(to.add_special_tokens, value, where);
}

struct detokenize_draft {
  std::string model;
  std::optional<token_list> tokens;
};

fault tokens(detokenize_draft& to, const json::value& value, std::string_view where,
             const api_limits& limits) {
  return read_tokens(to.tokens.emplace(), value, where, limits, prompt_tokens_max);
}

} // namespace

api_result<tokenize_request> parse_tokenize(std::string_view body,
                                            const api_limits& limits) {
  static const fields<tokenize_draft> known{
    {"model", model<tokenize_draft>},
    {"prompt", prompt_text},
    {"messages", messages},
    {"add_special_tokens", special_tokens},
  };
  auto read = parse(body, limits, known);
  if (!read)
    return failure(read.error());
  if (read->text && read->turns)
    return failure(*wrong_value("prompt", "absent if `messages` is given"));
  if (!read->text && !read->turns)
    return failure(*missing("prompt", "a string, or `messages` be given in its place"));
  tokenize_request out{std::move(read->model), {}, read->add_special_tokens};
  if (read->text)
    out.prompt = std::move(*read->text);
  else
    out.prompt = std::move(*read->turns);
  return out;
}

api_result<detokenize_request> parse_detokenize(std::string_view body,
                                                const api_limits& limits) {
  static const fields<detokenize_draft> known{
    {"model", model<detokenize_draft>},
    {"tokens", tokens},
  };
  auto read = parse(body, limits, known);
  if (!read)
    return failure(read.error());
  if (!read->tokens)
    return failure(*missing("tokens", "a list of token ids"));
  return detokenize_request{std::move(read->model), std::move(*read->tokens)};
}

} // namespace perigee::gateway
