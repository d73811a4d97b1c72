#include "actors/cluster/inventory.hpp"

#include "actors/cache_shard/cache_shard.hpp"
#include "actors/cluster/disruptions.hpp"
#include "actors/cluster/engine_seat.hpp"
#include "actors/cluster/line_plan.hpp"
#include "actors/cluster/modelled_disk.hpp"
#include "actors/cluster/modelled_network.hpp"
#include "actors/conductor/conductor.hpp"
#include "actors/coupled_instance/coupled_instance.hpp"
#include "actors/decode_instance/decode_instance.hpp"
#include "actors/prefill_group/prefill_group.hpp"
#include "actors/rejector/rejector.hpp"
#include "actors/transfer/fabric.hpp"
#include "schemas/assert.hpp"

#include <algorithm>

namespace perigee::cluster {
namespace {

std::uint32_t narrow(count number) {
  return static_cast<std::uint32_t>(number); // every setting's bounds allow it
}

/// What an owner and its engine's host share, made anew for each incarnation.
template <class Thing>
using slot = std::shared_ptr<std::shared_ptr<Thing>>;

template <class Thing>
slot<Thing> empty_slot() {
  return std::make_shared<std::shared_ptr<Thing>>();
}

class builder {
public:
  builder(const rt::world& in, const topology& all, const means& with, probes& counts)
    : in_(in), all_(all), with_(with),
      counts_(counts), memory_{std::make_shared<transport::segment_table>(),
                               transport::gate_board::make()},
      segments_made_(std::make_shared<std::uint64_t>(0)) {}

  units run() {
    for (std::size_t i = 0; i < all_.nodes.size(); ++i)
      if (!with_.only || *with_.only == node_index{narrow(i)})
        add_node(i);
    return std::move(units_);
  }

private:
  // -- nodes ------------------------------------------------------------------

  void add_node(std::size_t i) {
    const auto& node = all_.nodes[i];
    auto in = in_;
    in.node = node.name;
    in.index = node_index{narrow(i)};
    if (in.index == control_ && has_fabric())
      add_fabric(in);
    if (node.cache_shard) {
      add_transfer(in, node);
      add_shard(in, *node.cache_shard);
    }
    std::uint32_t engines = 0, groups = 0, instances = 0, coupled = 0;
    for (const auto& group : node.prefill_groups)
      add_prefill_group(in, group, groups++, engines++);
    for (const auto& instance : node.decode_instances)
      add_decode_instance(in, instance, instances++, engines++);
    for (const auto& instance : node.coupled_instances)
      add_coupled_instance(in, instance, coupled++, engines++);
    if (in.index == control_) {
      add_conductor(in);
      add_rejector(in);
      add_gateway(in);
    }
  }

  template <class Handle>
  void add_seat(unit& to, schema::Role role, const rt::world& in, std::uint32_t index,
                std::function<Handle(rt::place)> begin) {
    to.seats.push_back(
      std::make_unique<seat_of<Handle>>(role, in, index, std::move(begin)));
  }

  template <class Probe>
  std::shared_ptr<Probe> count_in(probes::each<Probe>& all, const rt::world& in,
                                  std::uint32_t index) {
    auto& one = all[{in.node, index}];
    one = std::make_shared<Probe>();
    return one;
  }

  // -- control ----------------------------------------------------------------

  void add_conductor(const rt::world& in) {
    conductor::options how;
    how.placement = all_.policy.placement;
    how.kvcache_balancing_threshold = all_.policy.kvcache_balancing_threshold;
    auto admission = rejector::make_admission(all_.policy.admission);
    PERIGEE_ASSERT(admission, "the settings' table has a policy that there is not");
    how.wanted = admission->wanted(all_.policy.load_max);
    how.ttft_limit = all_.slo.ttft;
    how.tbt_limit = all_.slo.tbt;
    how.cost = with_.cost;
    how.coupled = is_coupled(all_);
    auto counts = count_in(counts_.conductors, in, 0);
    add_seat<conductor_actor>(
      units_.emplace_back(), schema::Role::CONDUCTOR, in, 0,
      [=](rt::place where) { return conductor::start(in, where, how, counts); });
  }

  void add_rejector(const rt::world& in) {
    rejector::options how;
    how.admission = all_.policy.admission;
    how.load_max = all_.policy.load_max;
    how.ttft_limit = all_.slo.ttft;
    how.tbt_limit = all_.slo.tbt;
    how.cost = with_.cost;
    auto counts = count_in(counts_.rejectors, in, 0);
    add_seat<rejector_actor>(
      units_.emplace_back(), schema::Role::REJECTOR, in, 0,
      [=](rt::place where) { return rejector::start(in, where, how, counts); });
  }

  void add_gateway(const rt::world& in) {
    gateway::options how;
    how.control = control_;
    how.requests_max = all_.limits.requests_open_max;
    how.request_limit = all_.limits.request_limit;
    auto counts = count_in(counts_.gateways, in, 0);
    add_seat<gateway_actor>(units_.emplace_back(), schema::Role::GATEWAY, in, 0,
                            [=, whom = with_.patron](rt::place where) {
                              return gateway::start(in, where, whom, how, counts);
                            });
  }

  // -- the pool ---------------------------------------------------------------

  void add_transfer(const rt::world& in, const node& of) {
    transfer::options how;
    how.limit = all_.cluster.transfer_limit;
    how.gated_limit = all_.limits.request_limit;
    how.links = links_of(in, of);
    how.draw = with_.draw_ticket;
    if (with_.only)
      how.lines = line_plan_of(all_, in.index);
    auto counts = count_in(counts_.transfers, in, 0);
    add_seat<transfer_actor>(
      units_.emplace_back(), schema::Role::TRANSFER, in, 0,
      [=, memory = memory_, make = with_.make_paths](rt::place where) {
        return transfer::start(in, where, memory, make, how, counts);
      });
  }

  transfer::modelled_links links_of(const rt::world& in, const node& of) const {
    transfer::modelled_links links;
    if (const auto* hardware = hardware_of(all_, of)) {
      links.load_bytes_per_s = hardware->load_gib_per_s * double(1 << 30);
      links.store_bytes_per_s = hardware->store_gib_per_s * double(1 << 30);
    }
    if (has_fabric())
      links.fabric = fabric_name{control_, 0};
    links.port_bytes_per_s
      = network_.ports[static_cast<std::size_t>(in.index)].bytes_per_s;
    return links;
  }

  bool has_fabric() const {
    return all_.nodes.size() > 1 && !with_.only && network_.has_effect();
  }

  void add_fabric(const rt::world& in) {
    auto counts = count_in(counts_.fabrics, in, 0);
    add_seat<fabric_actor>(
      units_.emplace_back(), schema::Role::FABRIC, in, 0,
      [=, how = transfer::fabric_options{network_}](rt::place where) {
        return transfer::start_fabric(in, where, how, counts);
      });
  }

  void add_shard(const rt::world& in, const cache_shard_settings& of) {
    shard::options how;
    how.eviction = all_.policy.eviction;
    how.lease_limit = all_.cluster.lease_limit;
    how.transfer_limit = all_.cluster.transfer_limit;
    how.conductor = {control_, 0};
    how.climb_limit = all_.cluster.transfer_limit;
    auto arena = empty_slot<shard::dram_arena>();
    auto below = empty_slot<transport::disk>();
    auto ssd = of.ssd ? std::optional{disk_of(
                 all_, in.index, shard::blocks_in(of.ssd->size.bytes, shape()))}
                      : std::nullopt;
    how.spare_blocks = spare_of(of);
    auto counts = count_in(counts_.shards, in, 0);
    auto& one = units_.emplace_back();
    one.prepare = [arena, below, ssd, of, in, segments = memory_.segments,
                   names = segment_names{in, segments_made_}, layout = with_.layout,
                   backed = with_.shards_have_memory, allocate = with_.allocate]() {
      const transport::geometry shape{layout.layer_bytes(), layout.layers};
      below->reset();
      arena->reset(); // its memory, if nobody reads there any more
      auto made = shard::dram_arena::make(
        segments, {names.next(), shape, shard::blocks_in(of.dram.bytes, shape), backed,
                   static_cast<std::uint32_t>(in.index), allocate});
      if (!made)
        return std::optional<std::string>{"its arena cannot be made: no memory"};
      *arena = std::move(*made);
      if (ssd)
        *below = transport::make_modelled_disk(*segments->find((*arena)->id()), *ssd);
      return std::optional<std::string>{};
    };
    add_seat<shard_actor>(one, schema::Role::SHARD, in, 0, [=](rt::place where) {
      return shard::start(in, where, *arena, how, counts, *below);
    });
  }

  transport::geometry shape() const {
    return {with_.layout.layer_bytes(), with_.layout.layers};
  }

  /// A chunk or two, but no large part of a small memory.
  std::size_t spare_of(const cache_shard_settings& of) const {
    constexpr std::size_t part = 16, most = 64;
    return std::clamp<std::size_t>(shard::blocks_in(of.dram.bytes, shape()) / part, 1,
                                   most);
  }

  // -- engines ----------------------------------------------------------------

  /// Adds an engine's host to `to`, and has the engine made before.
  slot<engine_seat> add_engine(unit& to, const rt::world& in, std::uint32_t index,
                               engine_wish what) {
    auto made = empty_slot<engine_seat>();
    to.prepare
      = [=, memory = memory_, make = with_.make_engine,
         names = segment_names{in, segments_made_}]() -> std::optional<std::string> {
      made->reset();
      auto runs = make(what);
      if (!runs)
        return runs.error();
      *made = std::make_shared<engine_seat>(memory, names.next(), in.index,
                                            std::move(*runs));
      if (!(*made)->register_arena())
        return "its arena cannot be registered: it has no blocks, or too many have";
      return std::nullopt;
    };
    engine_host::options how;
    how.how = with_.driving;
    how.run_limit = all_.cluster.engine_limit;
    how.gate_limit = std::max(how.gate_limit, 2 * all_.cluster.transfer_limit);
    how.slow_spells = slow_spells_of(all_, in.node, with_.trace_began);
    auto counts = count_in(counts_.engines, in, index);
    add_seat<engine_actor>(
      to, schema::Role::ENGINE, in, index, [=, gates = memory_.gates](rt::place where) {
        return engine_host::start(in, where, (*made)->runs(), gates, how, counts);
      });
    return made;
  }

  void add_prefill_group(const rt::world& in, const prefill_group_settings& of,
                         std::uint32_t index, std::uint32_t engine) {
    auto& one = units_.emplace_back();
    auto made = add_engine(one, in, engine,
                           {of.engine, of.hardware, of.threads, of.arena,
                            narrow(all_.policy.prefill_chunk)});
    prefill::options how;
    how.control = control_;
    how.engine = engine;
    how.chunk_tokens = narrow(all_.policy.prefill_chunk);
    how.layer_wise = all_.policy.layer_wise;
    how.move_limit = all_.cluster.transfer_limit;
    if (has_disks())
      how.pool_limit = std::max(how.pool_limit, all_.cluster.transfer_limit);
    auto counts = count_in(counts_.prefills, in, index);
    add_seat<prefill_actor>(one, schema::Role::PREFILL, in, index,
                            [=, gates = memory_.gates](rt::place where) {
                              auto of_this = how;
                              of_this.segment = (*made)->segment();
                              return prefill::start(in, where, (*made)->runs()->arena(),
                                                    gates, of_this, counts);
                            });
  }

  bool has_disks() const {
    return std::ranges::any_of(all_.nodes, [](const auto& one) {
      return one.cache_shard && one.cache_shard->ssd;
    });
  }

  void add_decode_instance(const rt::world& in, const decode_instance_settings& of,
                           std::uint32_t index, std::uint32_t engine) {
    auto& one = units_.emplace_back();
    auto made = add_engine(
      one, in, engine,
      {of.engine, of.hardware, of.threads, of.arena, narrow(of.batch_max)});
    decode::options how;
    how.control = control_;
    how.engine = engine;
    how.batch_max = narrow(of.batch_max);
    how.steps_max = narrow(all_.policy.steps_max);
    how.tbt_limit = all_.slo.tbt;
    how.move_limit = all_.cluster.transfer_limit;
    auto counts = count_in(counts_.decodes, in, index);
    add_seat<decode_actor>(one, schema::Role::DECODE, in, index, [=](rt::place where) {
      auto of_this = how;
      of_this.segment = (*made)->segment();
      return decode::start(in, where, (*made)->runs()->arena(), of_this, counts);
    });
  }

  void add_coupled_instance(const rt::world& in, const coupled_instance_settings& of,
                            std::uint32_t index, std::uint32_t engine) {
    auto& one = units_.emplace_back();
    auto made = add_engine(one, in, engine,
                           {of.engine, of.hardware, of.threads, of.arena,
                            narrow(std::max(of.token_budget, of.sequences_max))});
    coupled::options how;
    how.control = control_;
    how.engine = engine;
    how.scheduler = of.scheduler;
    how.token_budget = narrow(of.token_budget);
    how.sequences_max = narrow(of.sequences_max);
    how.steps_max = narrow(all_.policy.steps_max);
    how.keeps_prefixes = of.prefix_cache;
    auto counts = count_in(counts_.coupleds, in, index);
    add_seat<coupled_actor>(
      one, schema::Role::COUPLED, in, index, [=](rt::place where) {
        return coupled::start(in, where, (*made)->runs()->arena(), how, counts);
      });
  }

  const rt::world& in_;
  const topology& all_;
  const means& with_;
  probes& counts_;
  transfer::shared_memory memory_;
  std::shared_ptr<std::uint64_t> segments_made_; // of this process
  const node_index control_ = control_of(all_);
  const transport::network_plan network_ = network_of(all_, with_.trace_began);
  units units_;
};

} // namespace

node_index control_of(const topology& all) {
  for (std::size_t i = 0; i < all.nodes.size(); ++i)
    if (all.nodes[i].name == all.cluster.control)
      return node_index{narrow(i)};
  return {};
}

units inventory(const rt::world& in, const topology& all, const means& with,
                probes& counts) {
  return builder{in, all, with, counts}.run();
}

} // namespace perigee::cluster
