/// \file
/// What is asked of a node that serves, and what must have come of it in the end.
#pragma once

#include "actors/block_keys.hpp"
#include "schemas/convert.hpp"
#include "tests/actors/prefill_group/serving_node.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::test {

using namespace std::chrono_literals;

/// What is asked of the cluster.
struct wish {
  tokens prompt;
  std::uint32_t tokens_max = 8;
  std::uint32_t modelled_tokens = 0; ///< 0: it answers as long as it may.
  ns remaining = 1h;
  ns tbt_limit{};
  int prompt_logprobs = -1;
  double temperature = 0;
  std::uint32_t reuse = 0;
  tokens stop_tokens = {engine::modelled_end};
};

/// `length` tokens that no other `kind` has.
inline tokens prompt_of(std::uint32_t length, std::uint32_t kind) {
  tokens all;
  for (std::uint32_t i = 0; i < length; ++i)
    all.push_back(3 + (kind * 7919 + i * 31) % 1'990);
  return all;
}

/// The test plays gateway and conductor.
class serving_bench : public serving_node {
public:
  using serving_node::serving_node;

  // -- the course of a request ------------------------------------------------

  /// As conductor and gateway. Returns the request.
  std::uint64_t ask(const wish& what) {
    auto request = ++requests;
    wishes[request] = what;
    heard[request].asked_at = bench.now();
    tell_expect(request, what);
    tell_prefill(request, what);
    tell_prompt(request, what);
    return request;
  }

  void tell_expect(std::uint64_t request, const wish& what) {
    bench.tell<schema::Expect>(instance, [&](schema::Expect::Builder news) {
      news.setRequest(request);
      news.setPromptTokens(static_cast<std::uint32_t>(what.prompt.size()));
      news.setTokensMax(what.tokens_max);
      news.setRemainingNs(static_cast<std::uint64_t>(what.remaining.count()));
    });
  }

  void tell_prefill(std::uint64_t request, const wish& what) {
    bench.tell<schema::Prefill>(group, [&](schema::Prefill::Builder plan) {
      plan.setRequest(request);
      plan.setPromptTokens(static_cast<std::uint32_t>(what.prompt.size()));
      plan.setTokensMax(what.tokens_max);
      auto chain = plan.initChain();
      chain.setBlockTokens(static_cast<std::uint16_t>(how.block_tokens));
      set_chain(chain, keys_of({}, what.prompt, how.block_tokens));
      plan.setReuseBlocks(what.reuse);
      plan.initSource();
      plan.setRemainingNs(static_cast<std::uint64_t>(what.remaining.count()));
      plan.setTbtLimitNs(static_cast<std::uint64_t>(what.tbt_limit.count()));
    });
  }

  void tell_prompt(std::uint64_t request, const wish& what, std::size_t parts = 2) {
    auto size = what.prompt.size();
    for (std::size_t part = 0; part < parts; ++part) {
      auto first = size * part / parts, end = size * (part + 1) / parts;
      bench.tell<schema::Prompt>(group, [&](schema::Prompt::Builder news) {
        news.setRequest(request);
        news.setFirstToken(static_cast<std::uint32_t>(first));
        auto list = news.initTokens(static_cast<unsigned>(end - first));
        for (unsigned i = 0; i < list.size(); ++i)
          list.set(i, what.prompt[first + i]);
        if (part + 1 < parts)
          return;
        news.setLast(true);
        news.setPromptLogprobs(static_cast<std::int16_t>(what.prompt_logprobs));
        set_sampling(news.initSampling(), what);
      });
    }
  }

  static void set_sampling(schema::Sampling::Builder to, const wish& what) {
    to.setTemperature(what.temperature);
    to.setSeed(7);
    to.setModelledTokens(what.modelled_tokens);
    auto stops = to.initStopTokens(static_cast<unsigned>(what.stop_tokens.size()));
    for (unsigned i = 0; i < stops.size(); ++i)
      stops.set(i, what.stop_tokens[i]);
  }

  void cancel(std::uint64_t request) {
    auto fill = [&](schema::Cancel::Builder news) { news.setRequest(request); };
    bench.tell<schema::Cancel>(group, fill);
    bench.tell<schema::Cancel>(instance, fill);
  }

  /// What an undisturbed engine answers, without the end.
  tokens expected(std::uint64_t request) const {
    const auto& what = wishes.at(request);
    engine::sampling_params params;
    params.temperature = what.temperature;
    params.seed = 7;
    params.modelled_output_tokens = what.modelled_tokens;
    params.stop_token_ids = what.stop_tokens;
    auto all = engine::expected_tokens(model, what.prompt, params, what.tokens_max);
    while (!all.empty() && all.back() == engine::modelled_end)
      all.pop_back();
    return all;
  }

  // -- what must hold in the end ----------------------------------------------

  template <class Probe>
  static std::map<std::string, std::uint64_t> counts_of(const Probe& probe) {
    std::map<std::string, std::uint64_t> seen;
    probe.each([&](auto name, auto, auto value) { seen[name] = value; });
    return seen;
  }

  std::uint64_t in_prefill(const std::string& wanted) const {
    return counts_of(*prefill_counts).at(wanted);
  }
  std::uint64_t in_decode(const std::string& wanted) const {
    return counts_of(*decode_counts).at(wanted);
  }

  /// Nothing is left of anything.
  void check_conservation() {
    bench.advance(2min); // memory of what has ended goes, too
    for (const auto* what : {"requests", "waiting", "moves", "pool_questions",
                             "deadlines", "blocks_used"}) {
      INFO(what);
      CHECK(in_prefill(what) == 0);
      CHECK(in_decode(what) == 0);
    }
    CHECK(in_prefill("blocks_free") == how.prefill_blocks);
    CHECK(in_decode("blocks_free") == how.decode_blocks);
    CHECK(in_decode("parked") == 0);
    CHECK(memory.gates->size() == 0);
    if (how.shard == pool::real)
      for (const auto* what : {"blocks_writing", "blocks_kept", "blocks_leased"}) {
        INFO(what);
        CHECK(counts_of(*shard_counts).at(what) == 0);
      }
    for (const auto& [request, what] : heard) {
      INFO("request " << request);
      CHECK(what.ends + what.cancelled >= 1);
      CHECK(what.after_end == 0);
    }
  }

  std::map<std::uint64_t, wish> wishes;
  std::uint64_t requests = 0;
};

} // namespace perigee::test
