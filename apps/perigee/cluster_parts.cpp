#include "apps/perigee/cluster_parts.hpp"

namespace perigee::app {

cluster::options options_of(const cluster::topology& all) {
  cluster::options how;
  how.respawns.attempts_max = all.cluster.respawns_max;
  how.drain_limit = all.cluster.drain_limit;
  return how;
}

cluster::means
means_of(const cluster::topology& all, const model& of,
         std::shared_ptr<gateway::patron> patron, const conductor::cost_model& cost,
         const std::function<std::shared_ptr<std::byte>(std::size_t)>& allocate) {
  cluster::means with;
  with.allocate = allocate;
  with.make_engine = [&all, &of, allocate](const cluster::engine_wish& what) {
    return make_engine(of, all,
                       {what.engine, what.hardware, what.threads,
                        blocks_of(of, what.arena), what.batch_tokens_max, allocate});
  };
  with.patron = std::move(patron);
  with.layout = of.layout;
  with.cost = cost;
  if (!of.weights) {
    with.driving = engine_host::driving::timed;
    with.shards_have_memory = false;
  }
  return with;
}

namespace {

/// Of the hardware, its disk, and the network between.
conductor::cost_model modelled_costs(const cluster::topology& all, const model& of) {
  const auto& hardware = all.hardware.begin()->second;
  auto cost = to_cost_model(hardware, of);
  cost.disk
    = {hardware.ssd_latency_us * 1e3, hardware.ssd_read_gib_per_s * double(1 << 30)};
  if (all.fabric.nic_gib_per_s > 0)
    cost.link.bytes_per_s = all.fabric.nic_gib_per_s * double(1 << 30);
  cost.link.latency_ns += all.fabric.latency_us * 1e3;
  return cost;
}

} // namespace

std::optional<conductor::cost_model> known_costs(const cluster::topology& all,
                                                 const model& of) {
  if (all.cost_model)
    return to_cost_model(*all.cost_model, of);
  if (!of.weights)
    return modelled_costs(all, of);
  return std::nullopt;
}

} // namespace perigee::app
