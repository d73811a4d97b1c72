/// \file
/// A prefill group and a decode instance, with all that they stand on, in the lab. The
/// test plays gateway, conductor and cluster.
#pragma once

#include "actors/block_keys.hpp"
#include "actors/decode_instance/decode_instance.hpp"
#include "actors/engine_host/engine_host.hpp"
#include "actors/prefill_group/prefill_group.hpp"
#include "actors/transfer/transfer.hpp"
#include "engine/modelled/modelled_engine.hpp"
#include "schemas/convert.hpp"
#include "tests/lab/lab.hpp"
#include "tests/lab/seeds.hpp"

#include <map>

namespace perigee::test {

using namespace std::chrono_literals;
using ns = std::chrono::nanoseconds;
using tokens = std::vector<std::uint32_t>;

/// What came of a request, as its gateway heard it.
struct answer {
  tokens said;
  schema::End end = schema::End::NONE;
  std::uint32_t stop_token = 0;
  std::uint32_t cached = 0;
  std::size_t ends = 0;
  std::size_t after_end = 0; ///< Runs that came when nothing should follow.
  std::map<std::string, ns> stages;
  ns first_at{};
  ns end_at{};
  std::vector<float> scores; ///< Of the prompt.
  std::size_t cancelled = 0;
};
using answers = std::map<std::uint64_t, answer>;

inline std::map<std::string, ns> stages_of(schema::Stages::Reader from) {
  auto span = [](std::uint64_t count) { return ns{count}; };
  return {{"queue", span(from.getQueueNs())},
          {"fetch", span(from.getFetchNs())},
          {"prefill", span(from.getPrefillNs())},
          {"handoff", span(from.getHandoffNs())},
          {"transfer", span(from.getTransferNs())},
          {"decode_queue", span(from.getDecodeQueueNs())},
          {"decode", span(from.getDecodeNs())}};
}

/// A gateway that writes down what it hears.
class hearing_gateway {
public:
  using handle = gateway_actor;
  static constexpr const char* name = "hearing_gateway";

  hearing_gateway(handle::pointer self, const rt::world& in, answers* heard)
    : desk_(self, in, name), heard_(*heard) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &hearing_gateway::ignore<schema::Submit>),
            desk_.on(this, &hearing_gateway::ignore<schema::Withdraw>),
            desk_.on(this, &hearing_gateway::ignore<schema::Placed>),
            desk_.on(this, &hearing_gateway::on_scores),
            desk_.on(this, &hearing_gateway::on_tokens),
            desk_.on(this, &hearing_gateway::on_cancelled),
            desk_.on(this, &hearing_gateway::ignore<schema::Member>),
            desk_.on(this, &hearing_gateway::ignore<schema::Drain>),
            desk_.on(this, &hearing_gateway::ignore<schema::Due>),
            desk_.on(this, &hearing_gateway::ignore<schema::Tick>)};
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  void on_scores(const Msg<schema::PromptScores>& news) {
    for (auto one : news->getScores())
      heard_[news->getRequest()].scores.push_back(one.getLogprob());
  }

  void on_tokens(const Msg<schema::Tokens>& news) {
    for (auto run : news->getRuns())
      take(heard_[run.getRequest()], run);
  }

  void take(answer& to, schema::Tokens::Run::Reader run) {
    if (to.ends > 0)
      return void(++to.after_end);
    if (to.said.empty())
      to.first_at = desk_.now();
    for (auto one : run.getTokens())
      to.said.push_back(one.getToken());
    if (run.hasStages())
      to.stages = stages_of(run.getStages());
    if (run.getEnd() == schema::End::NONE)
      return;
    ++to.ends;
    to.end = run.getEnd();
    to.end_at = desk_.now();
    to.stop_token = run.getStopToken();
    to.cached = run.getCachedTokens();
  }

  void on_cancelled(const Msg<schema::Cancelled>& news) {
    ++heard_[news->getRequest()].cancelled;
  }

  rt::desk<handle> desk_;
  answers& heard_;
};

/// A conductor that writes down what is reported to it.
class hearing_conductor {
public:
  using handle = conductor_actor;
  static constexpr const char* name = "hearing_conductor";

  struct reports {
    std::vector<ns> prefill_at;
    std::vector<ns> decode_at;
    std::vector<std::uint64_t> prefill_ended;
    std::vector<std::uint64_t> decode_began;
    std::vector<std::uint64_t> decode_ended;
    Msg<schema::PrefillLoad> prefill;
    Msg<schema::DecodeLoad> decode;
  };

  hearing_conductor(handle::pointer self, const rt::world& in, reports* heard)
    : desk_(self, in, name), heard_(*heard) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &hearing_conductor::ignore<schema::Place>),
            desk_.on(this, &hearing_conductor::ignore<schema::Cancel>),
            desk_.on(this, &hearing_conductor::on_prefill),
            desk_.on(this, &hearing_conductor::on_decode),
            desk_.on(this, &hearing_conductor::ignore<schema::Stored>),
            desk_.on(this, &hearing_conductor::ignore<schema::Evicted>),
            desk_.on(this, &hearing_conductor::ignore<schema::Snapshot>),
            desk_.on(this, &hearing_conductor::ignore<schema::Member>),
            desk_.on(this, &hearing_conductor::ignore<schema::Due>),
            desk_.on(this, &hearing_conductor::ignore<schema::Tick>)};
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  void on_prefill(const Msg<schema::PrefillLoad>& news) {
    heard_.prefill_at.push_back(desk_.now());
    heard_.prefill = news;
    for (auto request : news->getEnded())
      heard_.prefill_ended.push_back(request);
  }

  void on_decode(const Msg<schema::DecodeLoad>& news) {
    heard_.decode_at.push_back(desk_.now());
    heard_.decode = news;
    for (auto request : news->getBegan())
      heard_.decode_began.push_back(request);
    for (auto one : news->getEnded())
      heard_.decode_ended.push_back(one.getRequest());
  }

  rt::desk<handle> desk_;
  reports& heard_;
};

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
    all.push_back(3 + (kind * 7919 + i * 31) % 30'000);
  return all;
}

struct bench_shape {
  prefill::options prefill{.chunk_tokens = 16};
  decode::options decode{};
  std::uint32_t prefill_blocks = 64;
  std::uint32_t decode_blocks = 64;
  std::uint32_t block_tokens = 4;
  engine_host::options host{.how = engine_host::driving::timed};
};

class serving_bench {
public:
  using lab_type = lab<caf::id_block::perigee>;

  static constexpr std::uint64_t prefill_segment = 1;
  static constexpr std::uint64_t decode_segment = 2;

  explicit serving_bench(std::uint64_t seed, bench_shape shape = {})
    : how(shape), bench(seed) {
    model.checked = true;
    model.layout.block_tokens = how.block_tokens;
    model.cost.prefill = {1e-3, 1e-4, 0};
    model.cost.decode = {1e-3, 0, 1e-4};
    auto on_board = transport::gate_board::make();
    memory = {std::make_shared<transport::segment_table>(), on_board};
    gateway = seat<hearing_gateway>(gateway_name{}, bench.tag(), &heard);
    conductor = seat<hearing_conductor>(conductor_name{}, bench.tag(), &reported);
    start_transfer();
    prefill_engine = engine_of(how.prefill_blocks, prefill_segment);
    decode_engine = engine_of(how.decode_blocks, decode_segment);
    start_prefill();
    start_decode();
    bench.settle();
  }

  // -- actors -----------------------------------------------------------------

  template <class State, class Handle, class... Args>
  Handle seat(const rt::name<Handle>& where, rt::actor_tag tag, Args... args) {
    Handle one = bench.spawn<State>(args...);
    REQUIRE(bench.roster().seat(where, {one, {1, 1}, tag}));
    return one;
  }

  template <class Handle>
  void seat_started(const rt::name<Handle>& where, const Handle& one,
                    const char* role, std::uint32_t incarnation = 1) {
    bench.adopt(one);
    auto tag = rt::tag_of(
      rt::full_name("lab", 1, role, {where.index, incarnation}));
    REQUIRE(bench.roster().seat(where, {one, {1, incarnation}, tag}));
  }

  void start_transfer() {
    mover = transfer::start(bench.world(), {}, memory, transfer::inline_path,
                            {.modelled_bytes_per_s = 1e6});
    seat_started(transfer_name{}, mover, "transfer");
  }

  std::shared_ptr<engine::engine> engine_of(std::uint32_t blocks, std::uint64_t segment) {
    auto options = model;
    options.arena_blocks = blocks;
    std::shared_ptr<engine::engine> one = engine::make_modelled_engine(options);
    auto arena = one->arena();
    auto added = memory.segments->add({transport::segment_id{segment},
                          arena.base,
                          {arena.layout.layer_bytes(), arena.layout.layers},
                          arena.blocks,
                          one});
    REQUIRE(added);
    return one;
  }

  void start_prefill() {
    how.prefill.segment = prefill_segment;
    how.prefill.engine = 0;
    seat_started(engine_name{node_index{0}, 0},
                 engine_host::start(bench.world(), {0}, prefill_engine, memory.gates,
                                    how.host),
                 "engine");
    group = prefill::start(bench.world(), {}, prefill_engine->arena(), memory.gates,
                           how.prefill, prefill_counts);
    seat_started(prefill_name{}, group, "prefill");
  }

  void start_decode() {
    how.decode.segment = decode_segment;
    how.decode.engine = 1;
    seat_started(engine_name{node_index{0}, 1},
                 engine_host::start(bench.world(), {1}, decode_engine, memory.gates,
                                    how.host),
                 "engine");
    instance = decode::start(bench.world(), {}, decode_engine->arena(), how.decode,
                             decode_counts);
    seat_started(decode_name{}, instance, "decode");
  }

  // -- the course of a request ------------------------------------------------

  /// As conductor and gateway. Returns the request.
  std::uint64_t ask(const wish& what) {
    auto request = ++requests;
    wishes[request] = what;
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
    for (const auto* what :
         {"requests", "waiting", "moves", "pool_questions", "deadlines", "blocks_used"}) {
      INFO(what);
      CHECK(in_prefill(what) == 0);
      CHECK(in_decode(what) == 0);
    }
    CHECK(in_prefill("blocks_free") == how.prefill_blocks);
    CHECK(in_decode("blocks_free") == how.decode_blocks);
    CHECK(in_decode("parked") == 0);
    CHECK(memory.gates->size() == 0);
    for (const auto& [request, what] : heard) {
      INFO("request " << request);
      CHECK(what.ends + what.cancelled >= 1);
      CHECK(what.after_end == 0);
    }
  }

  bench_shape how;
  engine::modelled_options model;
  answers heard;
  hearing_conductor::reports reported;
  std::map<std::uint64_t, wish> wishes;
  std::uint64_t requests = 0;
  std::shared_ptr<prefill::probe> prefill_counts = std::make_shared<prefill::probe>();
  std::shared_ptr<decode::probe> decode_counts = std::make_shared<decode::probe>();
  transfer::shared_memory memory;
  std::shared_ptr<engine::engine> prefill_engine;
  std::shared_ptr<engine::engine> decode_engine;

  lab_type bench;
  gateway_actor gateway;
  conductor_actor conductor;
  transfer_actor mover;
  prefill_actor group;
  decode_actor instance;
};

} // namespace perigee::test
