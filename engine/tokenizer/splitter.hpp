/// \file
/// splitter: cuts text into the words that a byte-level tokenizer merges inside of.
#pragma once

#include "schemas/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace perigee::engine {

/// The rule named in a file's `tokenizer.ggml.pre`.
///
/// | name        | what makes a word, in short                                        |
/// |-------------|--------------------------------------------------------------------|
/// | `gpt-2`     | a space belongs to what follows; letters, digits, others           |
/// | `smollm`    | the same, but each digit alone, without a space                    |
/// | `llama-bpe` | any one character may lead letters; up to three digits; newlines   |
/// |             | go with what is before them                                        |
/// | `qwen2`     | the same, but each digit alone                                     |
struct split_rule {
  std::string_view name;
  const char* pattern;
  bool prefers_whole_words; ///< A word that is a token is not merged anew.
  bool adds_bos;            ///< Unless the file says otherwise.
};

/// All there are.
std::span<const split_rule> split_rules();

/// The one called `name`, or null. Other names that mean the same rule are known.
const split_rule* find_split_rule(std::string_view name);

/// What a text must not ask of a splitter: more steps than it is given.
struct too_many_steps {};

/// Immutable; any number of threads may use it.
class splitter {
public:
  /// Steps that any text of the longest length can need under any of the rules.
  static constexpr std::uint32_t steps_max = 1U << 28;

  explicit splitter(const split_rule& rule, std::uint32_t steps = steps_max);

  /// Tells `on_word` each word of `text` in order; together they are all of it.
  ///
  /// `text` must be healed(): UTF-8, or with lone surrogates, which count as symbols.
  /// Cost: linear in `text`.
  result<void, too_many_steps>
  split(std::string_view text,
        const std::function<void(std::string_view word)>& on_word) const;

private:
  struct compiled;
  std::shared_ptr<const compiled> compiled_;
};

} // namespace perigee::engine
