/// \file
/// A model whose tokens are the 256 bytes, and four of structure, of which <|im_end|>
/// ends an answer.
#pragma once

#include "actors/gateway/served_model.hpp"
#include "engine/tokenizer/byte_alphabet.hpp"

#include <stdexcept>

namespace perigee::test {

inline constexpr engine::token_id toy_end = 257;

inline gateway::served_model toy_model(std::uint32_t context = 64) {
  engine::vocabulary words;
  words.model = "gpt2";
  words.pre = "gpt-2";
  for (unsigned byte = 0; byte < 256; ++byte)
    words.tokens.emplace_back(engine::letter_of(static_cast<std::uint8_t>(byte)));
  words.token_type.assign(256, engine::token_kind::normal);
  for (auto* special : {"<|im_start|>", "<|im_end|>", "<|endoftext|>"}) {
    words.tokens.emplace_back(special);
    words.token_type.push_back(engine::token_kind::control);
  }
  words.eos_token_id = toy_end;
  auto made = engine::tokenizer::make(words);
  auto talk = engine::find_chat_template("chatml", std::nullopt);
  if (!made || !talk)
    throw std::runtime_error("no toy model");
  gateway::served_model model;
  model.name = "toy";
  model.info.name = "toy";
  model.info.vocabulary = 259;
  model.info.context_tokens_max = context;
  model.layout = {.layers = 2, .heads = 1, .head_dim = 8, .block_tokens = 16};
  model.context_tokens_max = context;
  model.words = *made;
  model.talk = *talk;
  return model;
}

inline gateway::token_list bytes_as_tokens(std::string_view text) {
  gateway::token_list out;
  for (unsigned char byte : text)
    out.push_back(byte);
  return out;
}

} // namespace perigee::test
