#include "apps/perigee/serving.hpp"

#include "apps/perigee/cluster_parts.hpp"
#include "apps/perigee/metrics.hpp"
#include "engine/chat/chat_template.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

namespace perigee::app {
namespace {

/// No two processes of a node share one, and a later one's is greater.
std::uint64_t draw_life() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
    std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

std::int64_t seconds_since_1970() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

/// The smallest arena of those who must hold a whole sequence, in tokens.
std::uint64_t arena_tokens(const cluster::topology& all, const model& of) {
  auto least = std::numeric_limits<std::uint64_t>::max();
  auto see = [&](cluster::byte_size arena) {
    least = std::min<std::uint64_t>(least, std::uint64_t{blocks_of(of, arena)}
                                             * of.layout.block_tokens);
  };
  for (const auto& node : all.nodes) {
    for (const auto& group : node.prefill_groups)
      see(group.arena);
    for (const auto& instance : node.decode_instances)
      see(instance.arena);
    for (const auto& instance : node.coupled_instances)
      see(instance.arena);
  }
  return least;
}

std::string model_name(const cluster::topology& all, const model& of) {
  return all.model.name.empty() ? of.info.name : all.model.name;
}

} // namespace

std::uint32_t context_tokens(const cluster::topology& all, const model& of) {
  std::uint64_t most = of.info.context_tokens_max;
  if (all.model.context_tokens_max > 0)
    most = std::min(most, all.model.context_tokens_max);
  return static_cast<std::uint32_t>(std::min(most, arena_tokens(all, of)));
}

serving_config::serving_config() {
  // One queue for all threads: a handler that runs long holds nobody else up.
  set("scheduler.policy", caf::atom("sharing"));
  rt::learn_messages<caf::id_block::perigee>(*this);
}

result<std::unique_ptr<serving>, std::string>
serving::start(const cluster::topology& all, const model& of,
               conductor::cost_model cost, std::shared_ptr<spdlog::logger> log,
               const journal_options& journal) {
  if (context_tokens(all, of) == 0)
    return failure(std::string{"an arena is too small for one block of "}
                   + std::to_string(of.layout.block_bytes()) + " bytes");
  auto life = draw_life();
  auto keeper = journal_keeper::open(journal, {all.cluster.control, life}, all, log);
  if (!keeper)
    return failure(keeper.error());
  std::unique_ptr<serving> one{
    new serving{all, of, std::move(log), life, std::move(*keeper)}};
  auto opened = one->open(cost);
  if (!opened)
    return failure(opened.error());
  return one;
}

serving::serving(const cluster::topology& all, const model& of,
                 std::shared_ptr<spdlog::logger> log, std::uint64_t life,
                 std::unique_ptr<journal_keeper> keeper)
  : all_(all), model_(of), log_(std::move(log)), keeper_(std::move(keeper)),
    system_(config_), roster_(seats_max), world_{system_,
                                                 keeper_->record(),
                                                 roster_,
                                                 log_,
                                                 all.cluster.control,
                                                 cluster::control_of(all),
                                                 life,
                                                 0} {
  world_.seed = rt::mix(world_.life);
}

serving::~serving() {
  if (cluster_) {
    drain();
    wait();
  }
  link_ = nullptr;
  roster_.clear();
}

result<void, std::string> serving::open(conductor::cost_model cost) {
  auto listening = gateway::http_link::open(world_, http(), front(), served());
  if (!listening)
    return failure(listening.error());
  link_ = *listening;
  auto units
    = cluster::inventory(world_, all_, means_of(all_, model_, link_, cost), counts_);
  cluster_ = cluster::start(world_, {}, roster_, std::move(units), options_of(all_),
                            cluster_counts_);
  door_ = std::make_unique<rt::doorway>(world_, "signals");
  link_->serve();
  return {};
}

gateway::served_model serving::served() const {
  return {model_name(all_, model_),
          model_.info,
          model_.layout,
          context_tokens(all_, model_),
          model_.words,
          model_.talk,
          model_.ends};
}

gateway::front_settings serving::front() const {
  gateway::front_settings how;
  how.give_up_after = all_.limits.request_limit + std::chrono::seconds{30};
  how.version = PERIGEE_VERSION;
  how.started_s = seconds_since_1970();
  how.is_ready = [this] { return is_ready(); };
  how.metrics = [this] {
    return metrics_text({counts_, *cluster_counts_, link_->probe(),
                         model_name(all_, model_), model_.layout.block_tokens});
  };
  return how;
}

gateway::http_settings serving::http() const {
  gateway::http_settings how;
  const auto& listen = all_.cluster.listen;
  auto colon = listen.rfind(':');
  how.address = listen.substr(0, colon);
  if (how.address.front() == '[')
    how.address = how.address.substr(1, how.address.size() - 2);
  how.port = static_cast<std::uint16_t>(std::stoul(listen.substr(colon + 1)));
  how.api_keys = all_.http.api_keys;
  how.origins = all_.http.cors_origins;
  const auto& limits = all_.limits;
  how.connections_max = limits.connections_max;
  how.header_bytes_max = limits.header_bytes_max.bytes;
  how.body_bytes_max = limits.body_bytes_max.bytes;
  how.idle_limit = limits.idle_limit;
  how.header_limit = limits.header_limit;
  how.body_limit = limits.body_limit;
  how.write_limit = limits.write_limit;
  how.id_seed = world_.seed;
  return how;
}

std::string serving::address() const {
  const auto& listen = all_.cluster.listen;
  return listen.substr(0, listen.rfind(':') + 1) + std::to_string(link_->port());
}

bool serving::is_ready() const {
  return cluster_counts_->is_ready() && link_->has_gateway();
}

result<void, std::string> serving::wait_until_ready() {
  constexpr std::chrono::minutes limit{10};
  constexpr std::chrono::milliseconds pause{2};
  for (auto waited = pause * 0; !is_ready(); waited += pause) {
    if (drained_)
      return {};
    if (cluster_counts_->units_given_up() > 0)
      return failure(std::string{"an actor could not be started: see the log"});
    if (waited > limit)
      return failure(std::string{"the cluster did not become ready in ten minutes"});
    std::this_thread::sleep_for(pause);
  }
  return {};
}

void serving::drain() {
  if (!drained_.exchange(true))
    door_->tell<schema::Drain>(cluster_, rt::unprompted, [](auto) {});
}

bool serving::wait() {
  {
    caf::scoped_actor self{system_};
    self->wait_for(cluster_);
  }
  cluster_ = nullptr;
  // Clients have their answers by now, or never will: those are told so.
  link_->stop(std::chrono::seconds{2});
  return drained_;
}

} // namespace perigee::app
