#include "apps/perigee/serving.hpp"

#include "actors/cluster/idleness.hpp"
#include "apps/perigee/cluster_parts.hpp"
#include "apps/perigee/metrics.hpp"
#include "apps/perigee/node_keys.hpp"
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

serving_config::serving_config(const cluster::topology& all,
                               std::optional<node_index> only) {
  // One queue for all threads: a handler that runs long holds nobody else up.
  set("scheduler.policy", caf::atom("sharing"));
  rt::learn_messages<caf::id_block::perigee, caf::id_block::perigee_nodes>(*this);
  if (only)
    rt::load_network(*this, network_of(all, *only));
}

namespace {

const std::string& node_name(const serving_order& what) {
  return what.only ? what.all.nodes[static_cast<std::size_t>(*what.only)].name
                   : what.all.cluster.control;
}

} // namespace

result<std::unique_ptr<serving>, std::string>
serving::start(const serving_order& what) {
  if (context_tokens(what.all, what.of) == 0)
    return failure(std::string{"an arena is too small for one block of "}
                   + std::to_string(what.of.layout.block_bytes()) + " bytes");
  auto life = draw_life();
  auto keeper
    = journal_keeper::open(what.journal, {node_name(what), life}, what.all, what.log);
  if (!keeper)
    return failure(keeper.error());
  std::unique_ptr<serving> one{new serving{what, life, std::move(*keeper)}};
  auto opened = one->open(what.cost);
  if (!opened)
    return failure(opened.error());
  return one;
}

serving::serving(const serving_order& what, std::uint64_t life,
                 std::unique_ptr<journal_keeper> keeper)
  : all_(what.all), model_(what.of), only_(what.only), log_(what.log),
    keeper_(std::move(keeper)), config_(all_, only_), system_(config_),
    roster_(seats_max), world_{system_,
                               keeper_->record(),
                               roster_,
                               log_,
                               node_name(what),
                               only_.value_or(cluster::control_of(all_)),
                               life,
                               0} {
  world_.seed = rt::mix(world_.life);
}

serving::~serving() {
  if (cluster_) {
    drain();
    wait();
  }
  side_ = nullptr;
  link_ = nullptr;
  roster_.clear();
}

result<void, std::string> serving::open(conductor::cost_model cost) {
  auto listening = gateway::http_link::open(world_, http(), front(), served());
  if (!listening)
    return failure(listening.error());
  link_ = *listening;
  cluster::means means;
  auto how = options_of(all_);
  if (only_) {
    auto side = node_side::make(all_, model_, *only_, world_.life);
    if (!side)
      return failure(side.error());
    side_ = std::move(*side);
    means = means_of(all_, model_, link_, cost, side_->allocator());
    means.only = only_;
    means.make_paths = side_->paths(log_);
    means.draw_ticket = [] {
      transport::ticket fresh;
      draw_secret(fresh.secret.data(), fresh.secret.size());
      return fresh;
    };
    how.elsewhere = side_->neighbourhood();
    how.is_idle = [this] { return cluster::is_idle(counts_); };
    how.refusals_every = std::chrono::seconds{1};
  } else {
    means = means_of(all_, model_, link_, cost);
  }
  auto units = cluster::inventory(world_, all_, means, counts_);
  cluster_ = cluster::start(world_, {}, roster_, std::move(units), std::move(how),
                            cluster_counts_);
  if (side_)
    if (auto begun = side_->begin(world_, cluster_); !begun)
      return begun;
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
  auto listen = http_address();
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

bool serving::has_gateway() const {
  return !only_ || *only_ == cluster::control_of(all_);
}

/// Where the HTTP side is to listen.
std::string serving::http_address() const {
  if (has_gateway())
    return all_.cluster.listen;
  const auto& node = all_.nodes[static_cast<std::size_t>(*only_)];
  return node.address.substr(0, node.address.rfind(':') + 1)
         + std::to_string(ports_of(node).metrics());
}

std::string serving::address() const {
  auto listen = http_address();
  return listen.substr(0, listen.rfind(':') + 1) + std::to_string(link_->port());
}

bool serving::is_ready() const {
  return cluster_counts_->is_ready() && (!has_gateway() || link_->has_gateway());
}

result<void, std::string> serving::wait_until_ready() {
  constexpr std::chrono::minutes limit{10};
  constexpr std::chrono::milliseconds pause{2};
  for (auto waited = pause * 0; !is_ready(); waited += pause) {
    if (drained_)
      return {};
    if (cluster_counts_->units_given_up() > 0)
      return failure(std::string{"an actor could not be started: see the log"});
    if (waited > limit && !side_) // other nodes may come when they like
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
  if (side_)
    side_->end();
  // Clients have their answers by now, or never will: those are told so.
  link_->stop(std::chrono::seconds{2});
  return drained_;
}

} // namespace perigee::app
