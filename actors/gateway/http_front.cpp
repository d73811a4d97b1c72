#include "actors/gateway/http_front.hpp"

#include "actors/gateway/json_text.hpp"
#include "actors/gateway/request_parser.hpp"
#include "actors/runtime/name.hpp"

#include <cstdio>
#include <ctime>
#include <utility>

namespace perigee::gateway {
namespace {

std::string fingerprint_of(const served_model& model, const std::string& version) {
  std::string out = "perigee-" + version + "-";
  for (std::size_t i = 0; i < 4; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x",
                  std::to_integer<unsigned>(model.info.digest[i]));
    out += digits;
  }
  return out;
}

std::string to_json(const token_list& tokens) {
  std::string out = "[";
  for (auto token : tokens) {
    out += out.size() > 1 ? "," : "";
    append_json_number(out, token);
  }
  return out += ']';
}

api_result<std::string> tokenized(const std::string& body, const served_model& model) {
  auto asked = parse_tokenize(body, limits_of(model));
  if (!asked)
    return failure(asked.error());
  auto tokens = tokens_of(asked->prompt, model, asked->add_special_tokens);
  if (!tokens)
    return failure(tokens.error());
  return R"({"count":)" + std::to_string(tokens->size()) + R"(,"max_model_len":)"
         + std::to_string(model.context_tokens_max) + R"(,"tokens":)" + to_json(*tokens)
         + "}";
}

api_result<std::string> detokenized(const std::string& body,
                                    const served_model& model) {
  auto asked = parse_detokenize(body, limits_of(model));
  if (!asked)
    return failure(asked.error());
  std::string out = R"({"prompt":)";
  append_json_string(out, model.words->decode(asked->tokens, engine::control::shown));
  return out += '}';
}

http_answer to_answer(const api_result<std::string>& body) {
  return body ? http_answer{200, *body} : to_answer(body.error());
}

} // namespace

http_front::http_front(front_settings how, served_model model, http_server& server,
                       cluster_door& door)
  : how_(std::move(how)), model_(std::move(model)), server_(server), door_(door),
    stream_(how_.stream_first), seed_(how_.seed),
    bench_(how_.bench_threads, how_.bench_waiting_max),
    long_bench_(1, how_.long_waiting_max) {}

void http_front::take(http_call call, std::shared_ptr<http_line> line) {
  switch (call.to) {
    case route::chat:
    case route::completion: return answer_generation(std::move(call), std::move(line));
    case route::tokenize:
    case route::detokenize:
      return answer_tokenization(std::move(call), std::move(line));
    default: return line->answer(answer_now(call));
  }
}

void http_front::answer_generation(http_call call, std::shared_ptr<http_line> line) {
  if (!how_.is_ready())
    return line->answer(
      to_answer({api_code::not_ready, "the cluster is not ready", "", 1}));
  exchange_start from;
  from.line = line;
  from.arrived_at = door_.now();
  from.trace = call.trace;
  from.ttft_limit = call.ttft_limit;
  from.tbt_limit = call.tpot_limit;
  auto number = call.number;
  auto bytes = call.body.size();
  auto job = [this, call = std::make_shared<http_call>(std::move(call)),
              from]() mutable {
    auto limits = limits_of(model_);
    auto asked = call->to == route::chat ? parse_chat(call->body, limits)
                                         : parse_completion(call->body, limits);
    call->body = {};
    from.parsed_at = door_.now();
    auto ready = std::make_shared<api_result<prepared_request>>(
      asked ? prepare(std::move(*asked), model_) : failure(asked.error()));
    server_.post([this, call, from, ready] { begin(*call, from, std::move(*ready)); });
  };
  put_on_bench(number, line, bytes, std::move(job));
}

void http_front::answer_tokenization(http_call call, std::shared_ptr<http_line> line) {
  auto number = call.number;
  auto bytes = call.body.size();
  auto job = [this, line, number, to = call.to, body = std::move(call.body)] {
    auto json
      = to == route::tokenize ? tokenized(body, model_) : detokenized(body, model_);
    server_.post([this, line, number, answer = to_answer(json)] {
      if (take_from_bench(number))
        line->answer(answer);
    });
  };
  put_on_bench(number, line, bytes, std::move(job));
}

void http_front::put_on_bench(std::uint64_t number,
                              const std::shared_ptr<http_line>& line,
                              std::size_t body_bytes, http_bench::job one) {
  auto& bench = body_bytes > how_.long_body_bytes ? long_bench_ : bench_;
  if (bench.put(std::move(one)))
    preparing_.emplace(number, line);
  else
    line->answer(to_answer(
      {api_code::queue_full, "too many requests wait to be tokenized", "", 1}));
}

/// False if it is there no more: its client has gone, or has been answered.
bool http_front::take_from_bench(std::uint64_t number) {
  return preparing_.erase(number) > 0;
}

void http_front::begin(const http_call& call, exchange_start from,
                       api_result<prepared_request> ready) {
  if (!take_from_bench(call.number))
    return;
  if (!ready)
    return from.line->answer(to_answer(ready.error()));
  const auto& asked = ready->asked;
  bool is_chat = asked.kind == api_kind::chat;
  from.head = {asked.kind,
               (is_chat ? "chatcmpl-" : "cmpl-") + call.request_id,
               std::time(nullptr),
               model_.name,
               fingerprint_of(model_, how_.version),
               asked.sampling.logprobs >= 0};
  from.stream_first = stream_;
  stream_ += ready->prompts.size() * asked.n;
  from.seed = rt::mix(seed_ += 0x9e3779b97f4a7c15);
  by_stream_[from.stream_first] = call.number;
  auto& one = exchanges_[call.number];
  one = std::make_unique<http_exchange>(std::move(from), std::move(*ready), model_,
                                        door_);
  one->begin();
  settle(call.number);
}

void http_front::abandon(std::uint64_t number) {
  if (take_from_bench(number))
    return;
  auto found = exchanges_.find(number);
  if (found == exchanges_.end())
    return;
  found->second->withdraw();
  settle(number);
}

void http_front::tick() {
  auto oldest = door_.now() - how_.give_up_after;
  while (!exchanges_.empty()) { // by age
    auto& [number, one] = *exchanges_.begin();
    if (one->arrived_at() > oldest)
      return;
    one->fail({api_code::deadline_exceeded, "the request's time was over", "", {}});
    settle(number);
  }
}

void http_front::close() {
  const api_error why{api_code::not_ready, "the server is stopping", "", 1};
  for (const auto& [_, line] : std::exchange(preparing_, {}))
    line->answer(to_answer(why));
  while (!exchanges_.empty()) {
    auto number = exchanges_.begin()->first;
    exchanges_.begin()->second->fail(why);
    settle(number);
  }
}

// -- from the cluster ---------------------------------------------------------------

http_exchange* http_front::find(std::uint64_t stream) {
  auto after = by_stream_.upper_bound(stream);
  if (after == by_stream_.begin())
    return nullptr;
  auto& one = exchanges_.at(std::prev(after)->second);
  return stream - one->stream_first() < one->streams() ? one.get() : nullptr;
}

void http_front::hear(std::vector<stream_news> all) {
  for (auto& news : all)
    if (auto* one = find(news.stream)) {
      auto number = by_stream_.at(one->stream_first());
      one->hear(std::move(news));
      settle(number);
    }
}

void http_front::hear(prompt_scores scores) {
  if (auto* one = find(scores.stream))
    one->hear(std::move(scores));
}

void http_front::begin_again() {
  for (auto at = exchanges_.begin(); at != exchanges_.end();) {
    auto& [number, one] = *at++;
    one->begin_again();
    settle(number);
  }
}

/// Forgets the exchange if it is over.
void http_front::settle(std::uint64_t number) {
  auto found = exchanges_.find(number);
  if (!found->second->is_over())
    return;
  by_stream_.erase(found->second->stream_first());
  exchanges_.erase(found);
}

// -- what needs no cluster ------------------------------------------------------------

http_answer http_front::answer_now(const http_call& call) const {
  switch (call.to) {
    case route::live: return {200, R"({"status":"ok"})"};
    case route::health:
    case route::ready: return readiness(how_.is_ready());
    case route::version: return {200, R"({"version":")" + how_.version + R"("})"};
    case route::metrics:
      return {200, how_.metrics(), "text/plain; version=0.0.4; charset=utf-8"};
    case route::models: return {200, models_json()};
    case route::model: break;
    default:
      return gateway::to_answer(
        api_error{api_code::internal_error, "nobody answers here", "", {}});
  }
  if (auto served = judge_model(call.model, limits_of(model_)); !served)
    return gateway::to_answer(served.error());
  return {200, model_json()};
}

http_answer http_front::readiness(bool ready) const {
  if (ready)
    return {200, R"({"status":"ok"})"};
  return gateway::to_answer(
    api_error{api_code::not_ready, "the cluster is not ready", "", 1});
}

std::string http_front::models_json() const {
  return R"({"object":"list","data":[)" + model_json() + "]}";
}

std::string http_front::model_json() const {
  std::string out = R"({"id":)";
  append_json_string(out, model_.name);
  return out + R"(,"object":"model","created":)" + std::to_string(how_.started_s)
         + R"(,"owned_by":"perigee","max_model_len":)"
         + std::to_string(model_.context_tokens_max) + "}";
}

} // namespace perigee::gateway
