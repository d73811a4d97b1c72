/// \file
/// http_exchange: one client's request, while it is answered.
#pragma once

#include "actors/gateway/answer_json.hpp"
#include "actors/gateway/answer_text.hpp"
#include "actors/gateway/cluster_door.hpp"
#include "actors/gateway/http_call.hpp"
#include "actors/gateway/preparation.hpp"
#include "actors/gateway/stream_news.hpp"

#include <memory>
#include <vector>

namespace perigee::gateway {

/// What an exchange begins with.
struct exchange_start {
  std::shared_ptr<http_line> line;
  answer_head head;
  trace_id trace;
  std::chrono::nanoseconds ttft_limit{};
  std::chrono::nanoseconds tbt_limit{};
  std::chrono::nanoseconds arrived_at{}; ///< The call, whole.
  std::chrono::nanoseconds parsed_at{};
  std::uint64_t stream_first = 0; ///< Its streams are numbered from here.
  std::uint64_t seed = 0;         ///< For requests that bring none.
};

/// Turns the tokens of its streams into one answer. Of the server's thread.
class http_exchange {
public:
  http_exchange(exchange_start from, prepared_request what, const served_model& model,
                cluster_door& door);

  /// Submits all streams. Answers at once if there is nothing to wait for.
  void begin();

  void hear(stream_news news);
  void hear(prompt_scores scores);

  /// Ends all of it, with an error.
  void fail(const api_error& why);

  /// Who had its streams is gone: submits again those of which nothing came, and fails
  /// if something had come of any.
  void begin_again();

  /// Its client has gone.
  void withdraw();

  bool is_over() const {
    return is_over_;
  }
  std::chrono::nanoseconds arrived_at() const {
    return from_.arrived_at;
  }
  std::uint64_t stream_first() const {
    return from_.stream_first;
  }
  std::size_t streams() const {
    return answers_.size();
  }

private:
  struct one_answer {
    one_answer(const api_request& asked, std::uint32_t which);

    choice so_far; ///< Of a stream, only why it ended.
    answer_text text;
    std::vector<engine::sampled> prompt_scores; ///< From position 1 on.
    std::uint32_t tokens = 0;
    std::uint32_t cached_tokens = 0;
    bool is_open = false; ///< Submitted, and not ended.
    bool has_begun = false;
    timings times;
    std::chrono::nanoseconds first_taken_at{};
  };

  bool submit(one_answer& one);
  void take_tokens(one_answer& one, const stream_news& news);
  void echo(one_answer& one);
  void end(one_answer& one, finish why, const stream_news* news);
  void give_out(one_answer& one);
  void end_if_all_have();
  void begin_events();
  void close(one_answer& one);
  void withdraw_open();
  std::string piece_of(const token_list& prompt, std::size_t at) const;
  scored_token to_scored(const engine::sampled& from) const;
  const prepared_prompt& prompt_of(const one_answer& one) const;
  std::uint64_t stream_of(const one_answer& one) const;
  token_usage usage() const;

  exchange_start from_;
  prepared_request what_;
  const served_model& model_;
  cluster_door& door_;
  chunk_writer chunks_;
  std::vector<one_answer> answers_;
  timings times_; ///< Of the answer that ended last.
  bool has_begun_ = false;
  bool is_over_ = false;
};

} // namespace perigee::gateway
