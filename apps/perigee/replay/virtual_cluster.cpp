#include "apps/perigee/replay/virtual_cluster.hpp"

#include "actors/cluster/cluster.hpp"

namespace perigee::app {
namespace {

constexpr std::size_t seats_max = 65'536;

/// What only takes time has no context of its own; a topology may set one.
model as_model(const model_outline& of, const cluster::topology& all) {
  model made;
  made.info = of.info;
  made.info.context_tokens_max = static_cast<std::uint32_t>(
    all.model.context_tokens_max > 0 ? all.model.context_tokens_max
                                     : prompt_tokens_max);
  made.layout = of.layout;
  return made;
}

} // namespace

virtual_cluster::config::config() {
  rt::stop_time(*this);
  rt::learn_messages<caf::id_block::perigee>(*this);
}

virtual_cluster::virtual_cluster(const cluster::topology& all, const model_outline& of,
                                 std::shared_ptr<gateway::patron> clients,
                                 std::uint64_t seed,
                                 std::shared_ptr<spdlog::logger> log)
  : all_(all), of_(as_model(of, all)), system_(config_), time_(system_, seed),
    roster_(seats_max), world_{system_,
                               rt::no_journal(),
                               roster_,
                               std::move(log),
                               all.cluster.control,
                               cluster::control_of(all),
                               1,
                               seed} {
  cluster::options how;
  how.respawns.attempts_max = all.cluster.respawns_max;
  how.drain_limit = all.cluster.drain_limit;
  auto units = cluster::inventory(world_, all_, means_of(std::move(clients)), counts_);
  cluster_ = cluster::start(world_, {}, roster_, std::move(units), how);
  door_ = std::make_unique<rt::doorway>(world_, "trace");
  time_.settle();
}

virtual_cluster::~virtual_cluster() {
  rt::kill(cluster_);
  cluster_ = nullptr;
  time_.settle();
  door_.reset();
  roster_.clear();
}

void virtual_cluster::run_until(nanoseconds moment) {
  if (moment > now())
    time_.advance(moment - now());
  time_.settle();
}

cluster::means
virtual_cluster::means_of(std::shared_ptr<gateway::patron> clients) const {
  cluster::means with;
  with.make_engine = [this](const cluster::engine_wish& what) {
    return make_engine(of_, all_,
                       {what.engine, what.hardware, what.threads,
                        blocks_of(of_, what.arena), what.batch_tokens_max});
  };
  with.patron = std::move(clients);
  with.layout = of_.layout;
  with.cost = to_cost_model(
    all_.cost_model ? *all_.cost_model : all_.hardware.begin()->second, of_);
  with.driving = engine_host::driving::timed;
  with.make_paths = transfer::inline_path;
  with.shards_have_memory = false;
  return with;
}

} // namespace perigee::app
