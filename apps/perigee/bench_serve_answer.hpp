/// \file
/// bench_serve_answer: what a client makes of a streamed answer. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perigee::app {

/// Server-sent events of the OpenAI API, as they come in. Each with text is a token, or
/// several that only together make a character.
class streamed_answer {
public:
  using nanoseconds = std::chrono::nanoseconds;

  /// Takes what came at `now`, in whatever pieces. False, and it takes no more, if that
  /// is no event of that kind, or one longer than 1 MiB.
  [[nodiscard]] bool take(std::string_view bytes, nanoseconds now);

  /// When each event with text came.
  const std::vector<nanoseconds>& moments() const {
    return moments_;
  }

  /// Whether it ended as an answer should: with a reason, and [DONE].
  bool is_whole() const {
    return has_reason_ && is_done_ && failure_.empty();
  }

  /// The code of an error in the stream's midst; empty if there was none.
  const std::string& failure() const {
    return failure_;
  }

  // As the server counted; 0 if it did not.
  std::uint32_t prompt_tokens() const {
    return prompt_tokens_;
  }
  std::uint32_t cached_tokens() const {
    return cached_tokens_;
  }
  std::uint32_t output_tokens() const {
    return output_tokens_;
  }

private:
  bool take_line(std::string_view line, nanoseconds now);
  bool take_event(std::string_view json, nanoseconds now);

  std::string rest_; ///< Of a line that has not ended.
  std::vector<nanoseconds> moments_;
  std::string failure_;
  bool has_reason_ = false;
  bool is_done_ = false;
  std::uint32_t prompt_tokens_ = 0;
  std::uint32_t cached_tokens_ = 0;
  std::uint32_t output_tokens_ = 0;
};

/// `error.code` of an error's body; empty if it has none.
std::string error_code_in(std::string_view body);

} // namespace perigee::app
