/// \file
/// answer_text: tokens become the text that a client may see.
#pragma once

#include "actors/gateway/stop_filter.hpp"
#include "engine/sampling/sampler.hpp"
#include "engine/tokenizer/utf8_stream.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perigee::gateway {

/// A token with its probability, in bytes, which need not be whole characters.
struct scored_token {
  struct candidate {
    std::string bytes;
    float logprob = 0;
  };

  std::string bytes;
  std::optional<float> logprob; ///< The first token of a prompt has none.
  std::vector<candidate> top;   ///< Best first; of a completion, itself among them.
  std::size_t offset = 0;       ///< Characters of the text before it.
};

/// A stretch of an answer, and the tokens that begin in it, if their scores are wanted.
struct text_piece {
  std::string text;
  std::vector<scored_token> scores;

  bool empty() const {
    return text.empty() && scores.empty();
  }
};

/// One answer, as its tokens come. Whole characters go out as soon as no stop string
/// can begin with them.
class answer_text {
public:
  answer_text(std::vector<std::string> stops, bool scored);

  /// A token, which stands for `bytes`, of the prompt, or before the least length of
  /// the answer. Stop strings do not matter in it, and none begins in it. A character
  /// that it leaves unfinished, the next token may finish. Not after push().
  void pass(std::string_view bytes, scored_token score = {});

  /// Any other token of the answer. `score` is read only if scores are wanted. To be
  /// called no more after stopped().
  void push(std::string_view bytes, scored_token score = {});

  /// The answer ends here.
  void finish();

  /// A stop string was found: what comes after its beginning does not go out.
  bool stopped() const {
    return filter_.stopped();
  }

  /// What may go out and has not yet.
  text_piece take();

private:
  void note(std::string_view bytes, scored_token score);
  std::string whole_characters(std::string_view bytes);
  void let_out(std::string_view text);

  engine::utf8_stream characters_;
  stop_filter filter_;
  bool scored_;
  bool finished_ = false;
  std::string out_;            // may go out
  std::size_t bytes_in_ = 0;   // of text, before the filter
  std::size_t chars_in_ = 0;   // in them
  std::size_t bytes_free_ = 0; // of text, behind the filter
  struct waiting {
    scored_token score;
    std::size_t begin; // of the token, in the text before the filter
  };
  std::deque<waiting> scores_;
};

} // namespace perigee::gateway
