#include "apps/perigee/node_side.hpp"

#include "actors/cluster/handbook.hpp"
#include "actors/cluster/line_plan.hpp"
#include "apps/perigee/node_keys.hpp"
#include "transport/local.hpp"
#include "transport/shm/shm.hpp"
#if PERIGEE_HAS_RDMA
#  include "transport/rdma/rdma.hpp"
#endif
#include "transport/tcp/address.hpp"
#include "transport/tcp/tcp.hpp"

#include <openssl/sha.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

namespace perigee::app {
namespace {

cluster::hash hash_of(const std::string& text) {
  cluster::hash digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

/// What must be the same everywhere: all but where each host keeps its files, and what
/// only the control node needs to know.
cluster::hash hash_of(cluster::topology all) {
  all.model.path.clear();
  all.network.tls.clear();
  all.http = {};
  return hash_of(cluster::resolved(all));
}

std::string host_id() {
  std::string id;
  std::ifstream{"/proc/sys/kernel/random/boot_id"} >> id;
  return id.substr(0, 32);
}

bool is_loopback(const cluster::node& one) {
  auto where = transport::tcp::address::read(one.address);
  return where && where->is_loopback();
}

transport::tcp::options tcp_options(const cluster::topology& all, node_index self) {
  const auto& node = all.nodes[static_cast<std::size_t>(self)];
  auto where = ports_of(node);
  bool is_v6 = where.address.find(':') != std::string::npos;
  transport::tcp::options how;
  how.listen = (is_v6 ? '[' + where.address + ']' : where.address) + ':'
               + std::to_string(where.payload());
  how.insecure = all.network.insecure;
  if (!all.network.tls.empty()) {
    key_files files{all.network.tls};
    how.tls = {files.authority(), files.certificate(node.name),
               files.certificate_key(node.name)};
  }
  return how;
}

/// If it could be opened.
template <class Opened>
void add_way(transfer::paths& to, spdlog::logger& log, const char* name,
             bool is_within_host, Opened opened) {
  if (opened)
    to.ways.push_back({name, std::move(*opened), is_within_host});
  else
    log.error("transport_not_open transport={} why=\"{}\"", name, opened.error().what);
}

#if PERIGEE_HAS_RDMA
/// Where there are NICs for it, and nobody minds that nothing is encrypted.
void add_rdma(transfer::paths& to, spdlog::logger& log, const cluster::topology& all,
              node_index self, const transport::tcp::options& beside,
              const transport::segment_table& segments, transport::on_peer told) {
  transport::rdma::options how;
  how.devices = all.nodes[static_cast<std::size_t>(self)].rdma_devices;
  // What was on its way over a line that is given up then has time for another.
  how.silence_limit = std::max<std::chrono::nanoseconds>(all.cluster.transfer_limit / 2,
                                                         how.drain_limit);
  auto is_not_there = [&](const std::string& why) {
    log.info("transport_not_there transport=rdma why=\"{}\"", why);
  };
  if (!all.network.tls.empty() && !all.network.insecure)
    return is_not_there("it encrypts nothing; with network.insecure that would do");
  how.listen = beside.listen.substr(0, beside.listen.rfind(':')) + ":0";
  how.insecure = all.network.insecure;
  auto opened = transport::rdma::open(segments, how, std::move(told));
  if (opened)
    to.ways.push_back({"rdma", std::move(*opened), false});
  else
    is_not_there(opened.error().what);
}
#endif

/// The topology names them for this node, so that it is no choice.
std::set<std::string> transports_named(const cluster::topology& all, node_index self) {
  std::set<std::string> named;
  for (const auto& [other, terms] : cluster::line_plan_of(all, self))
    if (!terms.transport.empty())
      named.insert(terms.transport);
  if (!all.nodes[static_cast<std::size_t>(self)].rdma_devices.empty())
    named.insert("rdma");
  return named;
}

void complain_of_missing(const transfer::paths& there,
                         const std::set<std::string>& named, spdlog::logger& log) {
  for (const auto& one : named)
    if (std::ranges::none_of(there.ways,
                             [&](const auto& way) { return way.name == one; }))
      log.error("transport_missing transport={} why=\"the topology names it for this "
                "node, which does not have it\"",
                one);
}

/// Whom a cluster with these nodes needs, beside those of `self`, to serve.
std::vector<schema::Role> roles_needed(const cluster::topology& all, node_index self) {
  std::vector<schema::Role> needed;
  if (self != cluster::control_of(all))
    return needed;
  auto has = [&](auto list) {
    const auto& own = all.nodes[static_cast<std::size_t>(self)];
    return !(own.*list).empty() || std::ranges::all_of(all.nodes, [&](const auto& one) {
      return (one.*list).empty();
    });
  };
  if (!has(&cluster::node::prefill_groups))
    needed.push_back(schema::Role::PREFILL);
  if (!has(&cluster::node::decode_instances))
    needed.push_back(schema::Role::DECODE);
  if (!has(&cluster::node::coupled_instances))
    needed.push_back(schema::Role::COUPLED);
  return needed;
}

} // namespace

node_ports ports_of(const cluster::node& one) {
  auto colon = one.address.rfind(':');
  auto host = one.address.substr(0, colon);
  if (host.front() == '[')
    host = host.substr(1, host.size() - 2);
  return {host, static_cast<std::uint16_t>(std::stoul(one.address.substr(colon + 1)))};
}

result<node_index, std::string> find_node(const cluster::topology& all,
                                          const std::string& name) {
  std::string names;
  std::optional<node_index> found;
  for (std::size_t i = 0; i < all.nodes.size(); ++i) {
    const auto& one = all.nodes[i];
    names += (i > 0 ? ", " : "") + one.name;
    if (one.name == name)
      found = node_index{static_cast<std::uint32_t>(i)};
    if (one.address.empty())
      return failure("node " + one.name
                     + " has no address: expected one for each node");
    if (all.network.tls.empty() && !all.network.insecure && !is_loopback(one))
      return failure("node " + one.name + " at " + one.address
                     + " is beyond this machine: expected network.tls, or "
                       "network.insecure = true");
  }
  if (!found)
    return failure("there is no node '" + name + "': expected one of " + names);
  return *found;
}

rt::network_options network_of(const cluster::topology& all, node_index self) {
  rt::network_options how;
  how.application = "perigee-" + all.cluster.name;
  how.heartbeat = all.network.heartbeat;
  how.silence_limit = all.network.silence_limit;
  if (all.network.tls.empty())
    return how;
  key_files files{all.network.tls};
  const auto& name = all.nodes[static_cast<std::size_t>(self)].name;
  how.tls = {files.authority(), files.certificate(name), files.certificate_key(name)};
  return how;
}

result<std::unique_ptr<node_side>, std::string>
node_side::make(const cluster::topology& all, const model& of, node_index self,
                std::uint64_t life) {
  auto keys = credentials_of(all, self);
  if (!keys)
    return failure(keys.error());
  cluster::node_card card;
  card.cluster = all.cluster.name;
  card.node = all.nodes[static_cast<std::size_t>(self)].name;
  card.index = self;
  card.life = life;
  card.topology = hash_of(all);
  card.model = of.info.digest;
  card.schema = hash_of(std::string{PERIGEE_SCHEMA_HASH});
  card.build = PERIGEE_VERSION;
  return std::unique_ptr<node_side>{
    new node_side{all, self, std::move(card), std::move(*keys)}};
}

node_side::node_side(const cluster::topology& all, node_index self,
                     cluster::node_card card,
                     std::shared_ptr<cluster::credentials> keys)
  : all_(all), self_(self), card_(std::move(card)), keys_(std::move(keys)) {}

cluster::neighbourhood node_side::neighbourhood() const {
  cluster::neighbourhood how;
  how.card = card_;
  for (std::uint32_t i = 0; i < all_.nodes.size(); ++i) {
    how.nodes.push_back(all_.nodes[i].name);
    if (node_index{i} < self_)
      how.dials.push_back(node_index{i});
  }
  how.roles_needed = roles_needed(all_, self_);
  how.list = list_;
  how.credential = keys_;
  return how;
}

std::function<std::shared_ptr<std::byte>(std::size_t bytes)>
node_side::allocator() const {
  return [memory = memory_](std::size_t bytes) { return memory->allocate(bytes); };
}

transfer::make_paths node_side::paths(std::shared_ptr<spdlog::logger> log) const {
  auto how = tcp_options(all_, self_);
  return [how, memory = memory_, log = std::move(log), self = self_, &topology = all_](
           const transfer::shared_memory& in, const transfer::news_of& news) {
    transfer::paths all;
    all.within = std::make_unique<transport::local>(*in.segments);
    all.host = host_id();
    add_way(all, *log, "shm", true,
            transport::shm::open(*in.segments, memory, {}, news("shm")));
#if PERIGEE_HAS_RDMA
    add_rdma(all, *log, topology, self, how, *in.segments, news("rdma"));
#endif
    add_way(all, *log, "tcp", false,
            transport::tcp::open(*in.segments, how, news("tcp")));
    complain_of_missing(all, transports_named(topology, self), *log);
    return all;
  };
}

result<void, std::string> node_side::begin(const rt::world& in,
                                           const cluster_actor& whom) {
  network_.emplace(in.system, !all_.network.tls.empty());
  auto own = ports_of(all_.nodes[static_cast<std::size_t>(self_)]);
  auto said
    = network_->publish(receiving_actor{face_of(whom)}, own.address, own.control);
  if (!said)
    return failure("cannot listen at " + own.address + " port "
                   + std::to_string(own.control) + ": " + said.error());
  std::vector<cluster::node_address> others;
  for (std::uint32_t i = 0; node_index{i} < self_; ++i) {
    auto where = ports_of(all_.nodes[i]);
    others.push_back({node_index{i}, where.address, where.control});
  }
  connector_.emplace(in, whom, list_, *network_, std::move(others));
  return {};
}

void node_side::end() {
  connector_.reset();
}

} // namespace perigee::app
