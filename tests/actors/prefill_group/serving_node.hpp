/// \file
/// A prefill group and a decode instance, with all that they stand on, in the lab.
#pragma once

#include "actors/cache_shard/cache_shard.hpp"
#include "actors/decode_instance/decode_instance.hpp"
#include "actors/engine_host/engine_host.hpp"
#include "actors/prefill_group/prefill_group.hpp"
#include "actors/transfer/transfer.hpp"
#include "engine/modelled/modelled_engine.hpp"
#include "tests/actors/prefill_group/doubles.hpp"
#include "tests/actors/quiet_cluster.hpp"
#include "tests/lab/perigee_messages.hpp"

#include <catch2/catch.hpp>

namespace perigee::test {

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

/// One node: its actors begin, are lost, and begin again. The test plays its cluster.
class serving_node {
public:
  using lab_type = lab<caf::id_block::perigee>;

  explicit serving_node(std::uint64_t seed, bench_shape shape = {})
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

  // -- they begin -------------------------------------------------------------

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
    mover
      = transfer::start(bench.world(), {0, incarnation}, memory, transfer::inline_path,
                        {.links = {.load_bytes_per_s = 1e6, .store_bytes_per_s = 1e6}});
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

  // -- and are lost -----------------------------------------------------------

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

  bench_shape how;
  engine::modelled_options model;
  answers heard;
  hearing_conductor::reports reported;
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
