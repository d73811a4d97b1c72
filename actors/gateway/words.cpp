#include "actors/gateway/words.hpp"

namespace perigee::gateway {
namespace {

std::int64_t seconds_up(std::uint64_t ns) {
  constexpr std::uint64_t second = 1'000'000'000;
  constexpr std::uint64_t most = 3600;
  auto whole = ns / second + (ns % second != 0);
  return static_cast<std::int64_t>(std::min(std::max<std::uint64_t>(whole, 1), most));
}

} // namespace

api_error queue_full() {
  return {api_code::queue_full, "as many requests are open as may be", "", 1};
}

api_error bad_submission() {
  return {api_code::internal_error, "the prompt did not arrive whole", "", {}};
}

api_error out_of_time() {
  return {api_code::deadline_exceeded, "the request's time was over", "", {}};
}

api_error actor_lost() {
  return {api_code::actor_lost, "an actor that served it was lost", "", {}};
}

api_error draining(std::int64_t retry_in_s) {
  return {api_code::not_ready, "the cluster takes no more requests", "", retry_in_s};
}

void set_sampling(schema::Sampling::Builder to, const engine::sampling_params& from) {
  to.setTemperature(from.temperature);
  to.setTopK(from.top_k);
  to.setTopP(from.top_p);
  to.setMinP(from.min_p);
  to.setRepetitionPenalty(from.repetition_penalty);
  to.setFrequencyPenalty(from.frequency_penalty);
  to.setPresencePenalty(from.presence_penalty);
  to.setSeed(from.seed);
  auto biases = to.initBiases(static_cast<unsigned>(from.logit_bias.size()));
  for (unsigned i = 0; i < biases.size(); ++i) {
    biases[i].setToken(from.logit_bias[i].first);
    biases[i].setBias(from.logit_bias[i].second);
  }
  to.setLogprobs(static_cast<std::int16_t>(from.logprobs));
  auto stops = to.initStopTokens(static_cast<unsigned>(from.stop_token_ids.size()));
  for (unsigned i = 0; i < stops.size(); ++i)
    stops.set(i, from.stop_token_ids[i]);
  to.setTokensMin(from.min_tokens);
  to.setModelledTokens(from.modelled_output_tokens);
}

engine::sampled to_sampled(schema::Drawn::Reader from) {
  engine::sampled out;
  out.token = from.getToken();
  out.logprob = from.getLogprob();
  for (auto one : from.getTop())
    out.top.push_back({one.getToken(), one.getLogprob()});
  return out;
}

std::vector<engine::sampled> to_sampled(capnp::List<schema::Drawn>::Reader from) {
  std::vector<engine::sampled> out;
  out.reserve(from.size());
  for (auto one : from)
    out.push_back(to_sampled(one));
  return out;
}

timings to_timings(schema::Stages::Reader from) {
  timings out;
  auto set = [&](stage which, std::uint64_t ns) {
    out[which] = std::chrono::nanoseconds{static_cast<std::int64_t>(ns)};
  };
  set(stage::parse, from.getParseNs());
  set(stage::tokenize, from.getTokenizeNs());
  set(stage::admission, from.getAdmissionNs());
  set(stage::placement, from.getPlacementNs());
  set(stage::queue, from.getQueueNs());
  set(stage::fetch, from.getFetchNs());
  set(stage::prefill, from.getPrefillNs());
  set(stage::handoff, from.getHandoffNs());
  set(stage::transfer, from.getTransferNs());
  set(stage::decode_queue, from.getDecodeQueueNs());
  set(stage::decode, from.getDecodeNs());
  return out;
}

api_error to_error(schema::Refusal::Reader from, bool at_handoff) {
  using why = schema::Refusal::Reason;
  auto retry = seconds_up(from.getRetryAfterNs());
  bool never = from.getRetryAfterNs() == 0; // would be refused then, too
  switch (from.getWhy()) {
    case why::PREFILL_LOAD:
      return {api_code::rejected_prefill,
              never ? "the first token could not come in time, not even from an idle "
                      "instance"
                    : "the first token could not come in time: prefill is loaded",
              "", retry};
    case why::DECODE_LOAD:
      return {at_handoff ? api_code::rejected_handoff : api_code::rejected_decode,
              never
                ? "tokens could not come fast enough, not even from an idle instance"
                : "tokens could not come fast enough: decode is loaded",
              "", retry};
    case why::QUEUE_FULL:
      return {api_code::queue_full, "too many requests wait", "", retry};
    case why::NO_INSTANCE:
      return {api_code::not_ready, "no instance is there to serve it", "", retry};
    case why::TOO_LONG:
      return {api_code::context_length_exceeded,
              "no instance can hold as many tokens as prompt and answer may have",
              "",
              {}};
    case why::DRAINING: return draining(retry);
    case why::UNKNOWN: break;
  }
  return {api_code::queue_full, "the cluster takes no more requests now", "", retry};
}

api_error to_error(schema::Tokens::Run::Reader from) {
  switch (from.getEnd()) {
    case schema::End::REFUSED: return to_error(from.getRefusal(), true);
    case schema::End::DEADLINE: return out_of_time();
    case schema::End::ACTOR_LOST: return actor_lost();
    case schema::End::BUSY:
      return {api_code::queue_full, "an instance had no room for it", "", 1};
    case schema::End::ENGINE_FAILED:
      return {api_code::engine_failed, "the engine failed", "", {}};
    case schema::End::TRANSFER_FAILED:
      return {api_code::engine_failed, "its KV could not be moved", "", {}};
    default: return {api_code::internal_error, "it was ended by the cluster", "", {}};
  }
}

} // namespace perigee::gateway
