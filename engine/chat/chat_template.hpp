/// \file
/// chat_template: a conversation becomes the prompt that a model was trained to
/// continue.
#pragma once

#include "engine/tokenizer/tokenizer.hpp"
#include "schemas/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perigee::engine {

enum class role : std::uint8_t { system, user, assistant };

/// As clients name it: "system". The other names there are: "developer", which means
/// system.
std::optional<role> role_of(std::string_view name);

struct message {
  role who = role::user;
  std::string text;
};

/// Messages of one conversation, at most.
inline constexpr std::size_t messages_max = 4096;

/// The texts that a model's file has for the ends of a text; empty if it has none.
struct end_texts {
  std::string bos;
  std::string eos;
};

/// A segment that owns its text.
struct prompt_part {
  std::string text;
  bool means_structure = false;
  bool stands_apart = false;

  bool operator==(const prompt_part&) const = default;
};

/// Views of `parts`, for tokenizer::encode().
std::vector<segment> segments_of(std::span<const prompt_part> parts);

/// Why a conversation can't be rendered.
struct bad_conversation {
  std::size_t message = 0; ///< Which one is wrong, from 0.
  std::string expected;    ///< And what was found instead.
};

/// Why there is no template.
struct no_template {
  std::string text; ///< A sentence for who wrote the topology.
};

/// One of the forms that we know, with what a file's own template changes in it.
/// Immutable; any number of threads may use it.
///
/// | name      | form                                                          |
/// |-----------|---------------------------------------------------------------|
/// | `chatml`  | `<|im_start|>user` ... `<|im_end|>`                           |
/// | `llama3`  | `<|start_header_id|>user<|end_header_id|>` ... `<|eot_id|>`   |
/// | `gemma`   | `<start_of_turn>user` ... `<end_of_turn>`, turns alternate    |
/// | `mistral` | `[INST]` ... `[/INST]` answer `</s>`, turns alternate         |
class chat_template {
public:
  virtual ~chat_template() = default;

  virtual std::string_view name() const = 0;

  /// The conversation, and the beginning of the assistant's next message. What users
  /// and assistants wrote is never structure. What an assistant wrote stands apart, so
  /// that the prompt of one turn is a prefix, token by token, of the next turn's.
  ///
  /// Refuses an empty or too long conversation, a system message that isn't the first,
  /// and where the form insists, roles that don't alternate.
  result<std::vector<prompt_part>, bad_conversation>
  render(std::span<const message> conversation, const end_texts& ends) const;

private:
  virtual std::optional<bad_conversation>
  find_fault(std::span<const message> conversation) const = 0;
  virtual std::vector<prompt_part> write(std::span<const message> conversation,
                                         const end_texts& ends) const = 0;
};

/// The names there are.
std::span<const std::string_view> chat_template_names();

/// The template to use: the one called `chosen`, the topology's `chat_template`, or
/// else what `in_file`, the file's `tokenizer.chat_template`, is recognised as. A
/// chosen one takes the details, such as a default system message, from a file of the
/// same form.
///
/// Without a choice, refuses a file without a template, and one that is none of the
/// forms or does more than they do; the error says what to choose from.
result<std::shared_ptr<const chat_template>, no_template>
find_chat_template(std::optional<std::string_view> chosen,
                   std::optional<std::string_view> in_file);

} // namespace perigee::engine
