#include "actors/engine_host/engine_words.hpp"

namespace perigee::engine_host {
namespace {

void set_drawn(schema::Drawn::Builder to, const engine::sampled& from) {
  to.setToken(from.token);
  to.setLogprob(from.logprob);
  if (from.top.empty())
    return;
  auto top = to.initTop(static_cast<unsigned>(from.top.size()));
  for (unsigned i = 0; i < top.size(); ++i) {
    top[i].setToken(from.top[i].token);
    top[i].setLogprob(from.top[i].logprob);
  }
}

void set_step(schema::RunResult::Step::Builder to, const run_record::step& from) {
  to.setDurationNs(static_cast<std::uint64_t>(from.duration.count()));
  auto drawn = to.initDrawn(static_cast<unsigned>(from.drawn.size()));
  for (unsigned i = 0; i < drawn.size(); ++i) {
    drawn[i].setSequence(from.drawn[i].sequence);
    drawn[i].setStopped(from.drawn[i].stopped);
    set_drawn(drawn[i].initDrawn(), from.drawn[i].what);
  }
}

void set_scores(schema::RunResult::Scores::Builder to, const run_record::scores& from) {
  to.setSequence(from.sequence);
  to.setFirstPosition(from.first_position);
  auto scores = to.initScores(static_cast<unsigned>(from.of.size()));
  for (unsigned i = 0; i < scores.size(); ++i)
    set_drawn(scores[i], from.of[i]);
}

} // namespace

engine::sampling_params to_sampling(schema::Sampling::Reader from) {
  engine::sampling_params how;
  how.temperature = from.getTemperature();
  how.top_k = from.getTopK();
  how.top_p = from.getTopP();
  how.min_p = from.getMinP();
  how.repetition_penalty = from.getRepetitionPenalty();
  how.frequency_penalty = from.getFrequencyPenalty();
  how.presence_penalty = from.getPresencePenalty();
  how.seed = from.getSeed();
  for (auto one : from.getBiases())
    how.logit_bias.emplace_back(one.getToken(), one.getBias());
  how.logprobs = from.getLogprobs();
  for (auto token : from.getStopTokens())
    how.stop_token_ids.push_back(token);
  how.min_tokens = from.getTokensMin();
  how.modelled_output_tokens = from.getModelledTokens();
  return how;
}

void set_result(schema::RunResult::Builder to, const run_record& from) {
  to.setTicket(from.ticket);
  to.setFault(from.fault);
  auto steps = to.initSteps(static_cast<unsigned>(from.steps.size()));
  for (unsigned i = 0; i < steps.size(); ++i)
    set_step(steps[i], from.steps[i]);
  auto scores = to.initScores(static_cast<unsigned>(from.scored.size()));
  for (unsigned i = 0; i < scores.size(); ++i)
    set_scores(scores[i], from.scored[i]);
}

} // namespace perigee::engine_host
