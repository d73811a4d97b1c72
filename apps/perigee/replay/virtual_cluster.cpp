#include "apps/perigee/replay/virtual_cluster.hpp"

#include "actors/cluster/disruptions.hpp"
#include "apps/perigee/cluster_parts.hpp"

namespace perigee::app {
namespace {

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
                                 std::uint64_t seed, nanoseconds trace_begins,
                                 std::shared_ptr<spdlog::logger> log,
                                 rt::journal& record)
  : all_(all), of_(as_model(of, all)), system_(config_), time_(system_, seed),
    roster_(seats_max), world_{system_,
                               record,
                               roster_,
                               std::move(log),
                               all.cluster.control,
                               cluster::control_of(all),
                               1,
                               seed} {
  auto with = means_of(all_, of_, std::move(clients), known_costs(all_, of_).value());
  with.make_paths = transfer::inline_path; // no thread of its own
  with.trace_began = trace_begins;
  auto how = options_of(all_);
  how.disruptions = cluster::disruptions_of(all_, trace_begins);
  cluster_ = cluster::start(world_, {}, roster_,
                            cluster::inventory(world_, all_, with, counts_), how);
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

} // namespace perigee::app
