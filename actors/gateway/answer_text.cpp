#include "actors/gateway/answer_text.hpp"

#include <algorithm>
#include <utility>

namespace perigee::gateway {
namespace {

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

} // namespace

answer_text::answer_text(std::vector<std::string> stops, bool scored)
  : filter_(std::move(stops)), scored_(scored) {}

void answer_text::pass(std::string_view bytes, scored_token score) {
  note(bytes, std::move(score));
  let_out(whole_characters(bytes));
}

void answer_text::push(std::string_view bytes, scored_token score) {
  note(bytes, std::move(score));
  let_out(filter_.push(whole_characters(bytes)));
}

void answer_text::finish() {
  if (!stopped()) {
    let_out(filter_.push(characters_.flush()));
    let_out(filter_.flush());
  }
  finished_ = true;
}

void answer_text::note(std::string_view bytes, scored_token score) {
  if (!scored_)
    return;
  score.bytes = bytes;
  score.offset = chars_in_;
  scores_.push_back({std::move(score), bytes_in_});
}

std::string answer_text::whole_characters(std::string_view bytes) {
  auto text = characters_.push(bytes);
  bytes_in_ += text.size();
  chars_in_ += characters_in(text);
  return text;
}

void answer_text::let_out(std::string_view text) {
  bytes_free_ += text.size();
  out_ += text;
}

text_piece answer_text::take() {
  text_piece piece{std::exchange(out_, {}), {}};
  auto is_out = [&](const waiting& one) {
    return one.begin < bytes_free_ || (finished_ && !stopped());
  };
  while (!scores_.empty() && is_out(scores_.front())) {
    piece.scores.push_back(std::move(scores_.front().score));
    scores_.pop_front();
  }
  return piece;
}

} // namespace perigee::gateway
