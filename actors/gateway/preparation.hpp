/// \file
/// preparation: a request that was read becomes prompts in tokens, with their keys.
#pragma once

#include "actors/gateway/api_error.hpp"
#include "actors/gateway/api_request.hpp"
#include "actors/gateway/served_model.hpp"
#include "schemas/vocabulary.hpp"

#include <string>
#include <vector>

namespace perigee::gateway {

struct prepared_prompt {
  token_list tokens; ///< Not empty.
  block_key root;
  block_chain chain; ///< Keys of its full blocks.
  std::string echo;  ///< Its text, if it is to be echoed without logprobs.

  /// Of each answer to it; 0: none is wanted, not even one token.
  std::uint32_t tokens_max = 0;
};

struct prepared_request {
  api_request asked; ///< Its prompts are gone; stop tokens are all that there are.
  std::vector<prepared_prompt> prompts;
};

/// Applies the chat template, tokenizes, hashes, and judges lengths against the
/// context.
///
/// | max_tokens          | an answer has at most                                      |
/// |---------------------|------------------------------------------------------------|
/// | absent in a chat    | what the prompt leaves of the context                      |
/// | absent otherwise    | 16 tokens, or what the prompt leaves if that is less       |
/// | 0                   | nothing: it is empty, and ends by its length               |
/// | up to what is left  | as many                                                    |
/// | more than is left   | refused: context_length_exceeded                           |
///
/// Refused likewise is a prompt that leaves no room for one token, unless none is
/// wanted. Pure; any number of threads may call it. Cost: tokenizing, which ends soon
/// after twice the context, and a SHA-256 of 64 bytes and more for each block.
api_result<prepared_request> prepare(api_request asked, const served_model& model);

/// The tokens of a prompt in any form, at most `most` of them. A text is text: nothing
/// in it becomes a control token, whatever it looks like; the chat template's own are.
api_result<token_list> tokens_of(const prompt_form& from, const served_model& model,
                                 bool add_special_tokens = true,
                                 std::size_t most = prompt_tokens_max);

} // namespace perigee::gateway
