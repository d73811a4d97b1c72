/// \file
/// A prefill group and a decode instance, with all that they stand on, in the lab. The
/// test plays gateway, conductor and cluster.
#pragma once

#include "actors/block_keys.hpp"
#include "actors/cache_shard/cache_shard.hpp"
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
  ns asked_at{};
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

/// Has the cluster's seat, and nothing to say.
class quiet_cluster {
public:
  using handle = cluster_actor;
  static constexpr const char* name = "quiet_cluster";

  quiet_cluster(handle::pointer self, const rt::world& in) : desk_(self, in, name) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &quiet_cluster::ignore<schema::Drain>),
            desk_.on(this, &quiet_cluster::ignore<schema::Drained>),
            desk_.on(this, &quiet_cluster::ignore<schema::Tick>),
            desk_.on(this, &quiet_cluster::on_describe)};
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  rt::reply<schema::Description> on_describe(const Msg<schema::Describe>& wish) {
    return desk_.write<schema::Description>(wish, [](auto) {});
  }

  rt::desk<handle> desk_;
};

/// Takes whatever it is asked, and answers nothing.
class silent_shard {
public:
  using handle = shard_actor;
  static constexpr const char* name = "silent_shard";

  silent_shard(handle::pointer self, const rt::world& in) : desk_(self, in, name) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &silent_shard::ignore<schema::Pin>),
            desk_.on(this, &silent_shard::ignore<schema::Unpin>),
            desk_.on(this, &silent_shard::ignore<schema::Reserve>),
            desk_.on(this, &silent_shard::ignore<schema::Seal>),
            desk_.on(this, &silent_shard::ignore<schema::Release>),
            desk_.on(this, &silent_shard::ignore<schema::Recount>),
            desk_.on(this, &silent_shard::ignore<schema::Quiesced>),
            desk_.on(this, &silent_shard::ignore<schema::Member>),
            desk_.on(this, &silent_shard::ignore<schema::Due>),
            desk_.on(this, &silent_shard::ignore<schema::Tick>)};
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  rt::desk<handle> desk_;
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
    all.push_back(3 + (kind * 7919 + i * 31) % 1'990);
  return all;
}

enum class pool { none, silent, real };

struct bench_shape {
  prefill::options prefill{.chunk_tokens = 16};
  decode::options decode{};
  std::uint32_t prefill_blocks = 64;
  std::uint32_t decode_blocks = 64;
  std::uint32_t shard_blocks = 256;
  pool shard = pool::real;
  std::uint32_t block_tokens = 4;
  engine_host::options host{.how = engine_host::driving::timed};
};

class serving_bench {
public:
  using lab_type = lab<caf::id_block::perigee>;

  explicit serving_bench(std::uint64_t seed, bench_shape shape = {})
    : how(shape), bench(seed) {
    model.checked = true;
    model.vocabulary = 2'000;
    model.layout.block_tokens = how.block_tokens;
    model.cost.prefill = {1e-3, 1e-4, 0};
    model.cost.decode = {1e-3, 0, 1e-4};
    auto on_board = transport::gate_board::make();
    memory = {std::make_shared<transport::segment_table>(), on_board};
    gateway = seat<hearing_gateway>(gateway_name{}, bench.tag(), &heard);
    conductor = seat<hearing_conductor>(conductor_name{}, bench.tag(), &reported);
    seat<quiet_cluster>(cluster_name{}, bench.tag());
    start_transfer();
    start_shard();
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
  void seat_started(const rt::name<Handle>& where, const Handle& one, const char* role,
                    std::uint32_t incarnation = 1) {
    bench.adopt(one);
    auto tag = rt::tag_of(rt::full_name("lab", 1, role, {where.index, incarnation}));
    REQUIRE(bench.roster().seat(where, {one, {1, incarnation}, tag}));
  }

  void start_transfer(std::uint32_t incarnation = 1) {
    mover = transfer::start(bench.world(), {0, incarnation}, memory,
                            transfer::inline_path, {.modelled_bytes_per_s = 1e6});
    seat_started(transfer_name{}, mover, "transfer", incarnation);
  }

  void start_shard(std::uint32_t incarnation = 1) {
    if (how.shard == pool::silent)
      seat<silent_shard>(shard_name{}, {});
    if (how.shard != pool::real)
      return;
    const auto& layout = model.layout;
    auto arena
      = shard::dram_arena::make(memory.segments, {transport::segment_id{++segments},
                                                  {layout.layer_bytes(), layout.layers},
                                                  how.shard_blocks});
    REQUIRE(arena);
    keeper = shard::start(bench.world(), {0, incarnation}, *arena, {}, shard_counts);
    seat_started(shard_name{}, keeper, "shard", incarnation);
  }

  std::shared_ptr<engine::engine> engine_of(std::uint32_t blocks) {
    auto options = model;
    options.arena_blocks = blocks;
    std::shared_ptr<engine::engine> one = engine::make_modelled_engine(options);
    auto arena = one->arena();
    auto added
      = memory.segments->add({transport::segment_id{++segments},
                              arena.base,
                              {arena.layout.layer_bytes(), arena.layout.layers},
                              arena.blocks,
                              one});
    REQUIRE(added);
    return one;
  }

  void start_prefill(std::uint32_t incarnation = 1) {
    auto runs = engine_of(how.prefill_blocks);
    how.prefill.segment = segments;
    how.prefill.engine = 0;
    prefill_host = engine_host::start(bench.world(), {0, incarnation}, runs,
                                      memory.gates, how.host);
    seat_started(engine_name{node_index{0}, 0}, prefill_host, "engine", incarnation);
    group = prefill::start(bench.world(), {0, incarnation}, runs->arena(), memory.gates,
                           how.prefill, prefill_counts);
    seat_started(prefill_name{}, group, "prefill", incarnation);
  }

  void start_decode(std::uint32_t incarnation = 1) {
    auto runs = engine_of(how.decode_blocks);
    how.decode.segment = segments;
    how.decode.engine = 1;
    decode_host = engine_host::start(bench.world(), {1, incarnation}, runs,
                                     memory.gates, how.host);
    seat_started(engine_name{node_index{0}, 1}, decode_host, "engine", incarnation);
    instance = decode::start(bench.world(), {0, incarnation}, runs->arena(), how.decode,
                             decode_counts);
    seat_started(decode_name{}, instance, "decode", incarnation);
  }

  /// Ends `one`, takes its seat, and tells everybody else, as the cluster does.
  template <class Handle>
  void lose(const rt::name<Handle>& where, const Handle& one, const char* role,
            schema::Role as, std::uint32_t incarnation = 1) {
    rt::kill(one);
    bench.settle();
    REQUIRE(bench.roster().vacate(where, {1, incarnation}));
    auto tag = rt::tag_of(rt::full_name("lab", 1, role, {where.index, incarnation}));
    auto news = [=](schema::Member::Builder said) {
      said.setRole(as);
      said.initWho().setIndex(where.index);
      said.setLife(1);
      said.setIncarnation(incarnation);
      said.setTag(static_cast<std::uint64_t>(tag));
    };
    tell_others(where, group, prefill_name{}, news);
    tell_others(where, instance, decode_name{}, news);
    tell_others(where, mover, transfer_name{}, news);
    if (how.shard == pool::real)
      tell_others(where, keeper, shard_name{}, news);
  }

  template <class Lost, class Handle, class Fill>
  void tell_others(const rt::name<Lost>&, const Handle& whom, const rt::name<Handle>&,
                   Fill news) {
    if constexpr (!std::is_same_v<Lost, Handle>)
      bench.tell<schema::Member>(whom, news);
  }

  void respawn_prefill() {
    rt::kill(prefill_host);
    lose(prefill_name{}, group, "prefill", schema::Role::PREFILL);
    REQUIRE(bench.roster().vacate(engine_name{node_index{0}, 0}, {1, 1}));
    start_prefill(2);
  }

  void respawn_decode() {
    rt::kill(decode_host);
    lose(decode_name{}, instance, "decode", schema::Role::DECODE);
    REQUIRE(bench.roster().vacate(engine_name{node_index{0}, 1}, {1, 1}));
    start_decode(2);
  }

  void respawn_shard() {
    lose(shard_name{}, keeper, "shard", schema::Role::SHARD);
    start_shard(2);
  }

  void respawn_transfer() {
    lose(transfer_name{}, mover, "transfer", schema::Role::TRANSFER);
    start_transfer(2);
  }

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

  bench_shape how;
  engine::modelled_options model;
  answers heard;
  hearing_conductor::reports reported;
  std::map<std::uint64_t, wish> wishes;
  std::uint64_t requests = 0;
  std::shared_ptr<prefill::probe> prefill_counts = std::make_shared<prefill::probe>();
  std::shared_ptr<decode::probe> decode_counts = std::make_shared<decode::probe>();
  std::shared_ptr<shard::probe> shard_counts = std::make_shared<shard::probe>();
  transfer::shared_memory memory;
  std::uint64_t segments = 0;

  lab_type bench;
  gateway_actor gateway;
  conductor_actor conductor;
  transfer_actor mover;
  shard_actor keeper;
  engine_actor prefill_host;
  engine_actor decode_host;
  prefill_actor group;
  decode_actor instance;
};

} // namespace perigee::test
