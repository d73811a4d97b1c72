// Texts, vocabularies and chat templates, at random. The first byte says which: 0 to 4,
// a text for one of the tiny vocabularies; 5, a vocabulary and a text; 6, a chat
// template and a conversation. Parts are divided by the byte 0x1E.
#include "engine/chat/chat_template.hpp"
#include "engine/tokenizer/utf8.hpp"
#include "engine/tokenizer/utf8_stream.hpp"
#include "engine/tokenizer/vocabulary_file.hpp"
#include "schemas/assert.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace perigee::engine;

std::vector<std::string_view> parts_of(std::string_view input) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = std::min(input.find('\x1E'), input.size());
    parts.push_back(input.substr(0, end));
    if (end == input.size())
      return parts;
    input.remove_prefix(end + 1);
  }
}

const std::vector<std::shared_ptr<const tokenizer>>& tiny_tokenizers() {
  static const auto all = [] {
    std::vector<std::shared_ptr<const tokenizer>> made;
    for (const char* name : {"smollm", "gpt-2", "llama-bpe", "qwen2", "llama"}) {
      const auto file = gguf::file::open(
        std::string{PERIGEE_SOURCE_DIR "/tests/engine/tokenizer/golden/tiny-"} + name
        + ".gguf");
      PERIGEE_ASSERT(file, "the tiny vocabularies are in the tree");
      made.push_back(read_tokenizer(**file).value());
    }
    return made;
  }();
  return all;
}

/// What must hold of every text with every vocabulary.
void check_text(const tokenizer& words, std::string_view text, bool is_complete,
                bool keeps_spaces) {
  const auto tokens = words.encode(text, ends::none);
  if (!tokens)
    return;
  for (const token_id token : *tokens) {
    PERIGEE_ASSERT(token < words.size(), "a token of the vocabulary");
    PERIGEE_ASSERT(!is_complete || !words.is_structure(token),
                   "no structure from text");
  }
  const std::string back = words.decode(*tokens);
  if (keeps_spaces && is_utf8(text))
    PERIGEE_ASSERT(back == text, "text comes back as it was");
  utf8_stream stream;
  std::string streamed;
  for (const token_id token : *tokens)
    streamed += stream.push(words.piece(token));
  streamed += stream.flush();
  PERIGEE_ASSERT(is_utf8(streamed), "whole characters come out");
}

void check_segments(const tokenizer& words, std::span<const std::string_view> parts) {
  std::vector<segment> prompt;
  for (const std::string_view part : parts)
    prompt.push_back({part, prompt.size() % 2 == 0, prompt.size() % 3 == 2});
  const auto tokens = words.encode(prompt);
  if (tokens && words.adds_bos())
    PERIGEE_ASSERT(tokens->front() == *words.bos(), "a BOS in front");
}

/// A list of tokens, one of merges, one of bytes for kinds and scores; then the text.
void check_vocabulary(std::span<const std::string_view> parts) {
  if (parts.size() < 4)
    return;
  const auto lines = [](std::string_view list) {
    std::vector<std::string> all;
    while (!list.empty()) {
      const std::size_t end = std::min(list.find('\n'), list.size());
      all.emplace_back(list.substr(0, end));
      list.remove_prefix(std::min(end + 1, list.size()));
    }
    return all;
  };
  vocabulary words;
  words.tokens = lines(parts[0]);
  words.merges = lines(parts[1]);
  words.pre = "qwen2";
  words.model = words.merges.empty() ? "llama" : "gpt2";
  for (const char byte : parts[2]) {
    words.token_type.push_back(static_cast<token_kind>(byte & 7));
    words.scores.push_back(static_cast<float>(byte >> 3));
  }
  if (!parts[2].empty())
    words.bos_token_id = static_cast<std::uint8_t>(parts[2][0]);
  const auto made = tokenizer::make(words);
  if (made)
    check_text(**made, parts[3], false, false);
}

void check_chat(std::span<const std::string_view> parts) {
  const auto form = find_chat_template(std::nullopt, parts[0]);
  if (!form)
    return;
  std::vector<message> conversation;
  for (const std::string_view part : parts.subspan(1)) {
    const char who = part.empty() ? 'u' : part.front();
    conversation.push_back({who == 's'   ? role::system
                            : who == 'a' ? role::assistant
                                         : role::user,
                            std::string{part}});
  }
  const auto prompt = (*form)->render(conversation, {"<s>", "</s>"});
  if (prompt)
    PERIGEE_ASSERT(tiny_tokenizers()[0]->encode(segments_of(*prompt)),
                   "a short prompt");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::string_view input{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto parts = parts_of(input);
  const unsigned kind = data[0] % 7;
  if (kind < 5) {
    // Pieces put a space behind every special token, and spell it with a letter.
    check_text(*tiny_tokenizers()[kind], input, true, kind != 4);
    check_segments(*tiny_tokenizers()[kind], parts);
  } else if (kind == 5) {
    check_vocabulary(parts);
  } else {
    check_chat(parts);
  }
  return 0;
}
