/// \file
/// answer_json: answers in the words of the OpenAI API.
#pragma once

#include "actors/gateway/answer_text.hpp"
#include "actors/gateway/api_request.hpp"
#include "actors/gateway/timings.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace perigee::gateway {

enum class finish : std::uint8_t { not_yet, stop, length };

/// What all of a request's answers have in common.
struct answer_head {
  api_kind kind{};
  std::string id;
  std::int64_t created_s = 0; ///< Since 1970.
  std::string model;
  std::string fingerprint; ///< Changes when answers may.
  bool scored = false;     ///< Logprobs are wanted.
};

struct token_usage {
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;
  std::uint64_t cached_tokens = 0; ///< Of the prompt.
};

/// An answer, or the next stretch of one.
struct choice {
  std::uint32_t index = 0;
  text_piece said;
  finish why = finish::not_yet;
};

/// The body of an answer that is not streamed.
std::string whole_answer(const answer_head& head, std::span<const choice> choices,
                         const token_usage& usage, const timings& times);

/// Writes the chunks of a stream, each as one server-sent event.
class chunk_writer {
public:
  /// With `include_usage` every chunk says that its usage is null, and the last of all
  /// is usage().
  chunk_writer(const answer_head& head, bool include_usage);

  /// In a chat, what a choice's stream begins with: the role. Else nothing.
  std::string opening(std::uint32_t index) const;

  /// `times` may be null; they stand with the end of a choice.
  std::string chunk(const choice& next, const timings* times) const;

  std::string usage(const token_usage& all) const;

private:
  std::string prefix_;
  bool is_chat_;
  bool scored_;
  bool include_usage_;
};

/// `data: {"error": ...}`, for a stream that fails after it began.
std::string error_event(const std::string& error_json);

/// The end of every stream.
inline constexpr std::string_view done_event = "data: [DONE]\n\n";

} // namespace perigee::gateway
