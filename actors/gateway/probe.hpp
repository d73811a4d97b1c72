/// \file
/// What a gateway counts.
#pragma once

#include "actors/gateway/histogram.hpp"
#include "actors/gateway/timings.hpp"
#include "actors/runtime/gauge.hpp"

#include <cstddef>

namespace perigee::gateway {

/// The actor says what happened, by verb; an exporter reads what came of it.
class probe {
public:
  using span = std::chrono::nanoseconds;

  void submitted(std::size_t prompt_tokens) {
    requests_total_.add();
    prompt_tokens_total_.add(prompt_tokens);
  }
  void refused() {
    refused_total_.add();
  }
  void placed_again() {
    placed_again_total_.add();
  }
  void got_first_token(span since_submit, std::size_t prompt, std::size_t cached) {
    ttft_.add(since_submit);
    prefix_queries_total_.add(prompt);
    prefix_hits_total_.add(cached);
  }
  void got_tokens(std::size_t tokens) {
    answer_tokens_total_.add(tokens);
  }
  void waited_between_tokens(span each) {
    between_tokens_.add(each);
  }
  void stopped() {
    stopped_total_.add();
  }
  void reached_length() {
    length_total_.add();
  }
  void failed() {
    failed_total_.add();
  }
  void withdrawn() {
    withdrawn_total_.add();
  }
  void dropped_stale() {
    stale_total_.add();
  }
  void never_acknowledged() {
    unacknowledged_total_.add();
  }
  void ended(span all, const timings& times, std::size_t answer_tokens);
  void holds(std::size_t waiting, std::size_t running, std::size_t cancelled) {
    waiting_.set(waiting);
    running_.set(running);
    cancelling_.set(cancelled);
  }

  std::uint64_t waiting() const {
    return waiting_.value();
  }
  std::uint64_t running() const {
    return running_.value();
  }
  std::uint64_t cancelling() const {
    return cancelling_.value();
  }
  std::uint64_t stale_total() const {
    return stale_total_.value();
  }
  std::uint64_t placed_again_total() const {
    return placed_again_total_.value();
  }
  std::uint64_t stopped_total() const {
    return stopped_total_.value();
  }
  std::uint64_t length_total() const {
    return length_total_.value();
  }
  std::uint64_t failed_total() const {
    return failed_total_.value();
  }
  std::uint64_t withdrawn_total() const {
    return withdrawn_total_.value();
  }
  std::uint64_t prompt_tokens_total() const {
    return prompt_tokens_total_.value();
  }
  std::uint64_t answer_tokens_total() const {
    return answer_tokens_total_.value();
  }
  std::uint64_t prefix_queries_total() const {
    return prefix_queries_total_.value();
  }
  std::uint64_t prefix_hits_total() const {
    return prefix_hits_total_.value();
  }

  /// Shows each number of ours alone to `see(name, help, value)`.
  template <class See>
  void each(See see) const {
    see("requests_total", "Requests submitted", requests_total_.value());
    see("refused_total", "Requests refused before or after prefill",
        refused_total_.value());
    see("placed_again_total", "Attempts after the first", placed_again_total_.value());
    see("withdrawn_total", "Requests whose client had gone or had enough",
        withdrawn_total_.value());
    see("cancelling", "Requests that are over, but held by others",
        cancelling_.value());
    see("unacknowledged_total", "Cancels that somebody did not answer in time",
        unacknowledged_total_.value());
    see("stale_total", "Messages dropped: their request has ended here",
        stale_total_.value());
  }

  /// Shows each histogram to `see(name, help, histogram)`.
  template <class See>
  void each_histogram(See see) const {
    see("time_to_first_token_seconds", "From submission to the first token", ttft_);
    see("inter_token_latency_seconds", "Between tokens", between_tokens_);
    see("time_per_output_token_seconds", "Between tokens, on average of a request",
        per_token_);
    see("e2e_request_latency_seconds", "From submission to the end", e2e_);
    see("request_queue_time_seconds", "In a prefill group's queue", queue_);
    see("request_prefill_time_seconds", "In prefill", prefill_);
    see("request_decode_time_seconds", "In decode", decode_);
    see("request_inference_time_seconds", "In prefill and decode", inference_);
  }

private:
  rt::counter requests_total_;
  rt::counter refused_total_;
  rt::counter placed_again_total_;
  rt::counter prompt_tokens_total_;
  rt::counter answer_tokens_total_;
  rt::counter prefix_queries_total_;
  rt::counter prefix_hits_total_;
  rt::counter stopped_total_;
  rt::counter length_total_;
  rt::counter failed_total_;
  rt::counter withdrawn_total_;
  rt::counter stale_total_;
  rt::counter unacknowledged_total_;
  rt::gauge waiting_;
  rt::gauge running_;
  rt::gauge cancelling_;

  // As vLLM has them, so that its dashboards fit.
  static constexpr std::array first_token_s{
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1,  0.25,  0.5,   0.75,
    1.0,   2.5,   5.0,  7.5,  10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0};
  static constexpr std::array token_s{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,
                                      0.3,  0.4,   0.5,  0.75,  1.0, 2.5,  5.0,
                                      7.5,  10.0,  20.0, 40.0,  80.0};
  static constexpr std::array request_s{
    0.3,  0.5,  0.8,  1.0,  1.5,   2.0,   2.5,   5.0,   10.0,   15.0,  20.0,
    30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0};

  histogram ttft_{first_token_s};
  histogram between_tokens_{token_s};
  histogram per_token_{token_s};
  histogram e2e_{request_s};
  histogram queue_{request_s};
  histogram prefill_{request_s};
  histogram decode_{request_s};
  histogram inference_{request_s};
};

inline void probe::ended(span all, const timings& times, std::size_t answer_tokens) {
  e2e_.add(all);
  queue_.add(times[stage::queue]);
  prefill_.add(times[stage::prefill]);
  decode_.add(times[stage::decode]);
  inference_.add(times[stage::prefill] + times[stage::decode]);
  if (answer_tokens > 1)
    per_token_.add(times[stage::decode] / static_cast<std::int64_t>(answer_tokens - 1));
}

} // namespace perigee::gateway
