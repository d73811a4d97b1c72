#include "actors/gateway/http_exchange.hpp"

#include <algorithm>
#include <utility>

namespace perigee::gateway {

http_exchange::one_answer::one_answer(const api_request& asked, std::uint32_t which)
  : so_far{which, {}, finish::not_yet},
    text(asked.stops, asked.sampling.logprobs >= 0) {}

http_exchange::http_exchange(exchange_start from, prepared_request what,
                             const served_model& model, cluster_door& door)
  : from_(std::move(from)), what_(std::move(what)), model_(model), door_(door),
    chunks_(from_.head, what_.asked.include_usage) {
  auto all = what_.prompts.size() * what_.asked.n;
  answers_.reserve(all);
  for (std::uint32_t i = 0; i < all; ++i)
    answers_.emplace_back(what_.asked, i);
}

const prepared_prompt& http_exchange::prompt_of(const one_answer& one) const {
  return what_.prompts[one.so_far.index / what_.asked.n];
}

std::uint64_t http_exchange::stream_of(const one_answer& one) const {
  return from_.stream_first + one.so_far.index;
}

// -- in ---------------------------------------------------------------------------

void http_exchange::begin() {
  for (auto& one : answers_) {
    bool wants_scores = what_.asked.echo && what_.asked.sampling.logprobs >= 0;
    if (prompt_of(one).tokens_max == 0 && !wants_scores) {
      echo(one);
      end(one, finish::length, nullptr);
      give_out(one);
    } else if (!submit(one)) {
      return fail({api_code::not_ready, "no gateway is there to take it", "", 1});
    }
    if (is_over_)
      return;
  }
  end_if_all_have();
}

bool http_exchange::submit(one_answer& one) {
  const auto& prompt = prompt_of(one);
  auto sampling = what_.asked.sampling;
  auto nth = one.so_far.index % what_.asked.n;
  if (!what_.asked.seeded)
    sampling.seed = from_.seed + one.so_far.index;
  else
    sampling.seed += nth;
  submission wish;
  wish.stream = stream_of(one);
  wish.trace = from_.trace;
  wish.tokens = prompt.tokens;
  wish.root = prompt.root;
  wish.chain = prompt.chain;
  wish.block_tokens = model_.layout.block_tokens;
  wish.sampling = &sampling;
  if (what_.asked.echo)
    wish.prompt_logprobs = sampling.logprobs;
  wish.tokens_max = std::max<std::uint32_t>(prompt.tokens_max, 1);
  wish.ttft_limit = from_.ttft_limit;
  wish.tbt_limit = from_.tbt_limit;
  wish.parse = from_.parsed_at - from_.arrived_at;
  wish.tokenize = door_.now() - from_.parsed_at;
  one.is_open = door_.submit(wish);
  return one.is_open;
}

void http_exchange::begin_again() {
  bool lost = std::any_of(answers_.begin(), answers_.end(),
                          [](const auto& one) { return one.is_open && one.has_begun; });
  for (auto& one : answers_) {
    if (!one.is_open || lost)
      continue;
    one.prompt_scores.clear();
    lost = !submit(one);
  }
  if (lost)
    fail({api_code::actor_lost, "the gateway that served it was lost", "", {}});
}

void http_exchange::hear(prompt_scores scores) {
  auto& one = answers_.at(scores.stream - from_.stream_first);
  if (!one.is_open || one.has_begun)
    return;
  auto& all = one.prompt_scores;
  if (scores.first_token == all.size() + 1 || (scores.first_token == 0 && all.empty()))
    all.insert(all.end(), std::make_move_iterator(scores.scores.begin()),
               std::make_move_iterator(scores.scores.end()));
}

void http_exchange::hear(stream_news news) {
  auto& one = answers_.at(news.stream - from_.stream_first);
  if (is_over_ || !one.is_open)
    return; // of a stream that was withdrawn
  if (news.end == stream_end::failed) {
    one.is_open = false;
    return fail(*news.why);
  }
  take_tokens(one, news);
  if (one.text.stopped())
    end(one, finish::stop, &news);
  else if (news.end != stream_end::not_yet)
    end(one, news.end == stream_end::stop ? finish::stop : finish::length, &news);
  give_out(one);
  end_if_all_have();
}

void http_exchange::take_tokens(one_answer& one, const stream_news& news) {
  if (!std::exchange(one.has_begun, true)) {
    one.cached_tokens = news.cached_tokens;
    one.first_taken_at = news.taken_at;
    echo(one);
    one.times = news.stages.value_or(timings{});
    one.times[stage::flush] = door_.now() - news.taken_at;
    one.times.ttft = door_.now() - from_.arrived_at;
  }
  if (prompt_of(one).tokens_max == 0)
    return; // it was asked for its prompt's scores alone
  for (const auto& token : news.tokens) {
    if (one.text.stopped())
      return;
    auto bytes = model_.words->piece(token.token);
    if (one.tokens++ < what_.asked.sampling.min_tokens)
      one.text.pass(bytes, to_scored(token));
    else
      one.text.push(bytes, to_scored(token));
  }
}

void http_exchange::echo(one_answer& one) {
  if (!what_.asked.echo)
    return;
  const auto& prompt = prompt_of(one);
  if (what_.asked.sampling.logprobs < 0)
    return one.text.pass(prompt.echo);
  for (std::size_t i = 0; i < prompt.tokens.size(); ++i) {
    bool has_score = i > 0 && i <= one.prompt_scores.size();
    one.text.pass(piece_of(prompt.tokens, i),
                  has_score ? to_scored(one.prompt_scores[i - 1]) : scored_token{});
  }
}

/// Of a prompt's token. A space that the tokenizer put before all text is left out.
std::string http_exchange::piece_of(const token_list& prompt, std::size_t at) const {
  constexpr std::size_t first_text_max = 1; // after BOS
  if (at > first_text_max)
    return std::string{model_.words->piece(prompt[at])};
  std::span<const token_id> all{prompt};
  auto before = model_.words->decode(all.first(at));
  return model_.words->decode(all.first(at + 1)).substr(before.size());
}

scored_token http_exchange::to_scored(const engine::sampled& from) const {
  scored_token out;
  if (what_.asked.sampling.logprobs < 0)
    return out;
  out.logprob = from.logprob;
  for (const auto& other : from.top)
    out.top.push_back({std::string{model_.words->piece(other.token)}, other.logprob});
  bool is_among = std::any_of(from.top.begin(), from.top.end(),
                              [&](const auto& one) { return one.token == from.token; });
  if (!is_among && what_.asked.kind == api_kind::completion) // as OpenAI has it
    out.top.push_back({std::string{model_.words->piece(from.token)}, from.logprob});
  return out;
}

// -- out --------------------------------------------------------------------------

/// `news` may be null: then nobody was asked.
void http_exchange::end(one_answer& one, finish why, const stream_news* news) {
  one.text.finish();
  one.so_far.why = why;
  if (news && news->end == stream_end::not_yet)
    door_.withdraw(stream_of(one)); // a stop string ended it before its stream did
  one.is_open = false;
  auto flush = one.times[stage::flush];
  auto ttft = one.times.ttft;
  if (news && news->stages)
    one.times = *news->stages;
  else if (news)
    one.times[stage::decode] = news->taken_at - one.first_taken_at;
  if (!news) {
    one.times[stage::parse] = from_.parsed_at - from_.arrived_at;
    one.times[stage::tokenize] = door_.now() - from_.parsed_at;
  }
  one.times.set_flush(flush);
  one.times.ttft = ttft;
  one.times.close(door_.now() - from_.arrived_at);
  times_ = one.times;
}

void http_exchange::begin_events() {
  if (std::exchange(has_begun_, true))
    return;
  from_.line->begin_events();
  std::string all;
  for (const auto& one : answers_)
    all += chunks_.opening(one.so_far.index);
  from_.line->write(all);
}

/// What may be seen of it and was not yet.
void http_exchange::give_out(one_answer& one) {
  auto piece = one.text.take();
  if (!what_.asked.stream) {
    auto& said = one.so_far.said;
    said.text += piece.text;
    std::move(piece.scores.begin(), piece.scores.end(),
              std::back_inserter(said.scores));
    return;
  }
  bool has_ended = one.so_far.why != finish::not_yet;
  begin_events();
  std::string chunks;
  if (!piece.empty())
    chunks
      += chunks_.chunk({one.so_far.index, std::move(piece), finish::not_yet}, nullptr);
  if (has_ended)
    chunks += chunks_.chunk({one.so_far.index, {}, one.so_far.why}, &one.times);
  from_.line->write(chunks);
}

void http_exchange::end_if_all_have() {
  bool all_have = std::all_of(answers_.begin(), answers_.end(), [](const auto& one) {
    return one.so_far.why != finish::not_yet;
  });
  if (is_over_ || !all_have)
    return;
  is_over_ = true;
  if (!what_.asked.stream) {
    std::vector<choice> all;
    for (auto& one : answers_)
      all.push_back(std::move(one.so_far));
    return from_.line->answer({200, whole_answer(from_.head, all, usage(), times_)});
  }
  std::string last;
  if (what_.asked.include_usage)
    last += chunks_.usage(usage());
  from_.line->write(last.append(done_event));
  from_.line->end_events();
}

token_usage http_exchange::usage() const {
  token_usage all;
  for (const auto& one : answers_) {
    all.completion_tokens += one.tokens;
    if (one.so_far.index % what_.asked.n != 0)
      continue; // the same prompt
    all.prompt_tokens += prompt_of(one).tokens.size();
    all.cached_tokens += one.cached_tokens;
  }
  return all;
}

void http_exchange::fail(const api_error& why) {
  if (std::exchange(is_over_, true))
    return;
  withdraw_open();
  if (!has_begun_)
    return from_.line->answer(to_answer(why));
  from_.line->write(error_event(to_json(why)).append(done_event));
  from_.line->end_events();
}

void http_exchange::withdraw() {
  is_over_ = true;
  withdraw_open();
}

void http_exchange::withdraw_open() {
  for (auto& one : answers_)
    if (std::exchange(one.is_open, false))
      door_.withdraw(stream_of(one));
}

} // namespace perigee::gateway
