/// \file
/// Reads the forms that a prompt may have. For .cpp files only, as json_fields.hpp.
#pragma once

#include "actors/gateway/api_request.hpp"
#include "actors/gateway/json_fields.hpp"

namespace perigee::gateway {

/// What a prompt may be.
inline constexpr auto prompt_forms
  = "a string, a list of strings, a list of token ids, or a list of such lists";

/// `messages`: a list of `{role, content}`; content is text, or a list of text parts,
/// which are joined by line ends.
fault read_messages(dialogue& out, const json::value& value, std::string_view where,
                    const api_limits& limits);

/// `prompt`: text, a list of texts, token ids, or a list of lists of token ids.
fault read_prompts(std::vector<prompt_form>& out, const json::value& value,
                   std::string_view where, const api_limits& limits);

/// A list of token ids of the vocabulary; at most `most`.
fault read_tokens(token_list& out, const json::value& value, std::string_view where,
                  const api_limits& limits, std::size_t most);

} // namespace perigee::gateway
