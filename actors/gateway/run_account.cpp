#include "actors/gateway/run_account.hpp"

#include "actors/gateway/words.hpp"

#include <algorithm>

namespace perigee::gateway {
namespace {

using std::chrono::nanoseconds;

timings stages_of(const open_request& one, schema::Stages::Reader said) {
  auto times = to_timings(said);
  auto before = to_timings(one.wish->getStages());
  times[stage::parse] = before[stage::parse];
  times[stage::tokenize] = before[stage::tokenize];
  times[stage::placement] += one.placing_at - one.began_at; // attempts before this one
  return times;
}

void count_tokens(open_request& one, const stream_news& news, probe& counts) {
  auto more = news.tokens.size();
  if (more == 0)
    return;
  for (std::size_t i = 0; i < more; ++i) {
    auto drawn = news.drawn_at(i);
    if (one.answer_tokens == 0)
      counts.got_first_token(drawn - one.began_at, one.prompt_tokens,
                             news.cached_tokens);
    else
      counts.waited_between_tokens(drawn - one.last_token_at);
    one.last_token_at = drawn;
    ++one.answer_tokens;
  }
  counts.got_tokens(more);
}

void end(const open_request& one, stream_news& news, schema::Tokens::Run::Reader run,
         probe& counts) {
  auto why = run.getEnd();
  if (why == schema::End::STOP || why == schema::End::LENGTH) {
    bool stopped = why == schema::End::STOP;
    news.end = stopped ? stream_end::stop : stream_end::length;
    stopped ? counts.stopped() : counts.reached_length();
    counts.ended(news.taken_at - one.began_at, *news.stages, one.answer_tokens);
  } else {
    news.end = stream_end::failed;
    news.why = to_error(run);
    why == schema::End::REFUSED ? counts.refused() : counts.failed();
  }
}

} // namespace

std::vector<nanoseconds> ages_of(capnp::List<std::uint64_t>::Reader steps) {
  std::vector<nanoseconds> ages(steps.size());
  nanoseconds age{};
  for (auto i = steps.size(); i-- > 0;) {
    ages[i] = age;
    age += nanoseconds{steps[i]};
  }
  return ages;
}

stream_news account_for(open_request& one, schema::Tokens::Run::Reader run,
                        std::span<const nanoseconds> ages, nanoseconds now,
                        probe& counts) {
  stream_news news{.stream = one.stream, .taken_at = now};
  news.tokens = to_sampled(run.getTokens());
  if (ages.size() > 1) {
    auto drawn = ages.first(std::min(ages.size(), news.tokens.size()));
    news.ages.assign(drawn.begin(), drawn.end());
  }
  news.cached_tokens = run.getCachedTokens();
  bool is_first = one.answer_tokens == 0 && !news.tokens.empty();
  bool is_last = run.getEnd() != schema::End::NONE;
  if (is_first || is_last)
    news.stages = stages_of(one, run.getStages());
  count_tokens(one, news, counts);
  if (is_last)
    end(one, news, run, counts);
  return news;
}

} // namespace perigee::gateway
