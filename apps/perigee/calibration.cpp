#include "apps/perigee/calibration.hpp"

#include "actors/conductor/least_squares.hpp"
#include "apps/perigee/calibration_fit.hpp"
#include "schemas/assert.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

namespace perigee::app {
namespace {

using seconds = std::chrono::duration<double>;
using measurements = std::vector<conductor::observation>;
using fault = std::string;

/// `tokens` behind `cached` ones, of each of `sequences` sequences.
struct shape {
  std::uint32_t sequences;
  std::uint32_t tokens;
  std::uint32_t cached;

  std::uint32_t length() const {
    return cached + tokens;
  }
};

struct plan {
  std::vector<shape> prefills;
  std::vector<shape> decodes;
  int repetitions;
};

const plan& plan_of(effort how) {
  static const plan quick{{{1, 8, 0}, {1, 64, 0}, {1, 64, 448}, {1, 8, 448}},
                          {{1, 1, 15}, {1, 1, 511}, {8, 1, 15}, {8, 1, 63}},
                          2};
  static const plan thorough{{{1, 16, 0},
                              {1, 64, 0},
                              {1, 256, 0},
                              {1, 16, 512},
                              {1, 256, 512},
                              {1, 64, 1024},
                              {1, 256, 1536}},
                             {{1, 1, 15},
                              {1, 1, 511},
                              {1, 1, 1535},
                              {4, 1, 255},
                              {16, 1, 15},
                              {16, 1, 127},
                              {32, 1, 63}},
                             5};
  return how == effort::quick ? quick : thorough;
}

/// Block tables and tokens for the sequences of a shape, each with blocks of its own.
class batch {
public:
  batch(const engine::engine& runs, const shape& what)
    : tokens_(what.tokens), draws_(what.sequences), drawn_(what.sequences) {
    std::iota(tokens_.begin(), tokens_.end(), 0u);
    for (auto& token : tokens_)
      token = token * 7919 % runs.model().vocabulary;
    auto per_block = runs.arena().layout.block_tokens;
    auto each = (what.length() + per_block - 1) / per_block;
    tables_.resize(what.sequences, std::vector<std::uint32_t>(each));
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < what.sequences; ++i) {
      std::iota(tables_[i].begin(), tables_[i].end(), next);
      next += each;
      engine::sampling_params greedy;
      greedy.temperature = 0;
      draws_[i] = std::make_unique<engine::sampler>(greedy);
      slices_.push_back(
        {tokens_, what.cached, tables_[i], draws_[i].get(), &drawn_[i], {}});
    }
    fits_ = next <= runs.arena().blocks
            && what.length() <= runs.model().context_tokens_max
            && what.sequences * what.tokens <= runs.batch_tokens_max();
  }

  bool fits() const {
    return fits_;
  }

  std::span<engine::slice> slices() {
    return slices_;
  }

private:
  std::vector<engine::token_id> tokens_;
  std::vector<std::vector<std::uint32_t>> tables_;
  std::vector<std::unique_ptr<engine::sampler>> draws_;
  std::vector<engine::sampled> drawn_;
  std::vector<engine::slice> slices_;
  bool fits_ = false;
};

/// The fastest of some runs, in seconds. Nothing if the engine is too small for it.
result<std::optional<double>, fault> measure(engine::engine& runs, const shape& what,
                                             int repetitions) {
  batch all{runs, what};
  if (!all.fits())
    return std::optional<double>{};
  double best = 0;
  for (int i = 0; i <= repetitions; ++i) { // the first one warms up
    auto begin = std::chrono::steady_clock::now();
    if (!runs.run(all.slices(), {}))
      return failure(fault{"the engine failed at a batch of "
                           + std::to_string(what.sequences * what.tokens) + " tokens"});
    double took = seconds{std::chrono::steady_clock::now() - begin}.count();
    if (i == 1 || (i > 1 && took < best))
      best = took;
  }
  return std::optional{best};
}

/// Blocks that the largest shape takes.
std::uint32_t blocks_needed(effort how, std::uint32_t block_tokens) {
  std::uint32_t most = 0;
  for (const auto* shapes : {&plan_of(how).prefills, &plan_of(how).decodes})
    for (const auto& what : *shapes)
      most = std::max(most, what.sequences
                              * ((what.length() + block_tokens - 1) / block_tokens));
  return most;
}

double square(double x) {
  return x * x;
}

conductor::coefficients prefill_terms(const shape& what) {
  return {1, double(what.tokens), square(what.length()) - square(what.cached)};
}

conductor::coefficients decode_terms(const shape& what) {
  return {1, double(what.sequences), double(what.sequences) * what.length()};
}

result<conductor::coefficients, fault>
fit(engine::engine& runs, const std::vector<shape>& shapes, int repetitions,
    conductor::coefficients (*terms_of)(const shape&), const char* name,
    const on_measured& tell) {
  measurements seen;
  for (const auto& what : shapes) {
    auto took = measure(runs, what, repetitions);
    if (!took)
      return failure(took.error());
    if (!*took)
      continue;
    seen.push_back({terms_of(what), **took});
    char line[128];
    std::snprintf(line, sizeof line, "%s sequences=%u tokens=%u cached=%u ms=%.2f",
                  name, what.sequences, what.tokens, what.cached, **took * 1e3);
    if (tell)
      tell(line);
  }
  auto fitted
    = seen.size() < conductor::terms ? std::nullopt : conductor::fit_nonnegative(seen);
  if (!fitted)
    return failure(fault{std::string{"the measurements of "} + name
                         + " do not determine its costs; is the arena too small?"});
  return *fitted;
}

/// Of a copy between two places in memory, as `local` moves KV.
double memory_gib_per_s() {
  constexpr std::size_t bytes = std::size_t{32} << 20;
  const std::vector<char> from(bytes, 1);
  std::vector<char> to(bytes);
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    auto begin = std::chrono::steady_clock::now();
    std::memcpy(to.data(), from.data(), bytes);
    seconds took = std::chrono::steady_clock::now() - begin;
    if (to[bytes - 1] == 1 && took.count() > 0)
      best = std::max(best, double(bytes) / took.count() / double(1 << 30));
  }
  return best;
}

} // namespace

result<cluster::cost_settings, std::string> calibrate(engine::engine& prefills,
                                                      engine::engine& decodes,
                                                      effort how,
                                                      const on_measured& tell) {
  const auto& todo = plan_of(how);
  auto prefill
    = fit(prefills, todo.prefills, todo.repetitions, prefill_terms, "prefill", tell);
  if (!prefill)
    return failure(prefill.error());
  auto decode
    = fit(decodes, todo.decodes, todo.repetitions, decode_terms, "decode", tell);
  if (!decode)
    return failure(decode.error());
  cluster::cost_settings costs;
  costs.prefill_fixed_ms = to_four_digits((*prefill)[0] * 1e3);
  costs.prefill_token_us = to_four_digits((*prefill)[1] * 1e6);
  costs.prefill_pair_ns = to_four_digits((*prefill)[2] * 1e9);
  costs.decode_fixed_ms = to_four_digits((*decode)[0] * 1e3);
  costs.decode_sequence_us = to_four_digits((*decode)[1] * 1e6);
  costs.decode_kv_token_ns = to_four_digits((*decode)[2] * 1e9);
  costs.transfer_gib_per_s = to_four_digits(memory_gib_per_s());
  return costs;
}

namespace {

/// The first of some list that the nodes have.
template <class Owner>
const Owner& first_of(const cluster::topology& all,
                      std::vector<Owner> cluster::node::*list) {
  for (const auto& node : all.nodes)
    if (!(node.*list).empty())
      return (node.*list).front();
  PERIGEE_ASSERT(false, "a topology without a group or an instance");
}

} // namespace

result<cluster::cost_settings, std::string>
calibrate_engines(const model& of, const cluster::topology& all, effort how,
                  const on_measured& tell) {
  constexpr std::uint32_t batch_tokens = 256;
  auto make = [&](const auto& owner) {
    return make_engine(of, all,
                       {owner.engine, owner.hardware, owner.threads,
                        blocks_needed(how, of.layout.block_tokens), batch_tokens});
  };
  bool coupled = cluster::is_coupled(all);
  auto prefills = coupled ? make(first_of(all, &cluster::node::coupled_instances))
                          : make(first_of(all, &cluster::node::prefill_groups));
  if (!prefills)
    return failure(prefills.error());
  auto decodes = coupled ? make(first_of(all, &cluster::node::coupled_instances))
                         : make(first_of(all, &cluster::node::decode_instances));
  if (!decodes)
    return failure(decodes.error());
  return calibrate(**prefills, **decodes, how, tell);
}

} // namespace perigee::app
