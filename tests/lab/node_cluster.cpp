#include "tests/lab/node_cluster.hpp"

#include "actors/cluster/idleness.hpp"
#include "actors/runtime/doorway.hpp"
#include "tests/lab/left_over.hpp"
#include "transport/inline_local.hpp"

#include <algorithm>

namespace perigee::test {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

// As of connections between real processes.
constexpr nanoseconds silence_limit = 3s, heartbeat = 500ms, answer_limit = 3s,
                      wait_first = 50ms, wait_most = 2s, wait_again = 500ms;

/// Of a cluster that has no keys.
class no_keys final : public cluster::credentials {
public:
  cluster::challenge draw() override {
    cluster::challenge fresh{};
    fresh[0] = std::byte{++drawn_};
    return fresh;
  }
  cluster::proof sign(std::string_view) override {
    return {};
  }
  bool verify(node_index, std::string_view, const cluster::proof&) override {
    return true;
  }

private:
  std::uint8_t drawn_ = 0;
};

std::string name_of_node(unsigned index) {
  return "n" + std::to_string(index);
}

cluster::topology topology_of(const nodes_shape& shape,
                              const engine::kv_layout& layout) {
  cluster::topology all;
  auto bytes = [&](unsigned blocks) {
    return cluster::byte_size{blocks * layout.block_bytes()};
  };
  for (unsigned i = 0; i < shape.nodes; ++i) {
    auto& one = all.nodes.emplace_back();
    one.name = name_of_node(i);
    one.cache_shard = cluster::cache_shard_settings{bytes(shape.shard_blocks)};
    if (shape.has_all_everywhere || i % 2 == 1)
      one.prefill_groups.push_back(
        {1, "modelled", "lab", 1, bytes(shape.prefill_blocks)});
    if (shape.has_all_everywhere || (i > 0 && i % 2 == 0))
      one.decode_instances.push_back(
        {"modelled", "lab", 1, bytes(shape.decode_blocks), 8});
  }
  all.cluster.control = name_of_node(0);
  all.policy.prefill_chunk = 64;
  all.policy.admission = "none";
  all.policy.placement = shape.placement;
  all.limits.request_limit = 60s;
  all.slo.ttft = all.slo.tbt = 60s; // nobody is refused for being slow
  auto& hardware = all.hardware["lab"];
  hardware.transfer_gib_per_s = 0.001;
  hardware.transfer_fixed_us = 50;
  hardware.load_gib_per_s = 0.002;
  hardware.store_gib_per_s = 0.002;
  return all;
}

/// As the engines take.
conductor::cost_model costs_of(const engine::modelled_options& model) {
  conductor::cost_model cost;
  cost.prefill.fixed_ns = model.cost.prefill.fixed_s * 1e9;
  cost.prefill.token_ns = model.cost.prefill.token_s * 1e9;
  cost.decode.fixed_ns = model.cost.decode.fixed_s * 1e9;
  cost.decode.sequence_ns = model.cost.decode.sequence_s * 1e9;
  cost.kv_token_bytes = model.layout.block_bytes() / model.layout.block_tokens;
  return cost;
}

} // namespace

/// One life of a node.
struct node_cluster::node {
  node(fleet& all, transcript& record, std::shared_ptr<spdlog::logger> log,
       std::uint32_t index, std::uint64_t life)
    : home(std::make_shared<process>(all, rt::mix(all.seed() ^ (index << 8) ^ life))),
      in{home->system(),
         record,
         roster,
         std::move(log),
         name_of_node(index),
         node_index{index},
         life,
         rt::mix(all.seed())},
      client(in, "client") {}

  /// All of its actors end, and nobody else runs.
  ~node() {
    rt::kill(cluster);
    cluster = nullptr;
    home->settle();
    roster.clear();
  }

  std::shared_ptr<process> home;
  rt::roster roster{1024};
  rt::world in;
  rt::doorway client;
  std::map<unsigned, rt::doorway> connectors; // by node
  std::shared_ptr<cluster::dial_list> list = std::make_shared<cluster::dial_list>();
  std::set<unsigned> dialing;
  cluster::probes probes;
  std::shared_ptr<cluster::probe> counts = std::make_shared<cluster::probe>();
  cluster_actor cluster;
};

node_cluster::node_cluster(std::uint64_t seed, nodes_shape shape)
  : shape_(shape), fleet_(seed),
    log_(std::make_shared<spdlog::logger>(
      "lab", std::make_shared<error_ear>(fleet_.record()))),
    payloads_(fleet_, shape.by), lives_(shape.nodes, 0), nodes_(shape.nodes) {
  model_.checked = true;
  model_.seed = 7;
  topology_ = topology_of(shape, model_.layout);
  for_each_message<caf::id_block::perigee>(
    [this]<class T>() { fleet_.record().learn<T>(); });
  for_each_message<caf::id_block::perigee_nodes>(
    [this]<class T>() { fleet_.record().learn<T>(); });
  fleet_.set_idle([this] { dial(); });
  for (unsigned i = 0; i < shape.nodes; ++i)
    start(i);
  fleet_.advance(5s);
}

node_cluster::~node_cluster() {
  fleet_.set_idle({});
  for (unsigned i = shape_.nodes; i-- > 0;)
    if (nodes_[i])
      kill(i);
}

// -- a node's course ----------------------------------------------------------

bool node_cluster::is_up(unsigned which) const {
  return nodes_[which] && !nodes_[which]->home->is_stopped();
}

void node_cluster::start(unsigned which) {
  begin(which, ++lives_[which]);
}

void node_cluster::begin(unsigned which, std::uint64_t life) {
  nodes_[which] = std::make_unique<node>(fleet_, fleet_.record(), log_, which, life);
  auto& one = *nodes_[which];
  cluster::options how;
  how.drain_limit = 10min; // what is there is to end by itself
  how.is_idle = [&counts = one.probes] { return cluster::is_idle(counts); };
  auto& there = how.elsewhere.emplace();
  there.card = {"lab", one.in.node, one.in.index, life, {}, {}, {}, "1"};
  for (unsigned i = 0; i < shape_.nodes; ++i) {
    there.nodes.push_back(name_of_node(i));
    if (i >= which)
      continue;
    there.dials.push_back(node_index{i});
    auto named = one.in;
    named.where.index = i;
    one.connectors.try_emplace(i, named, "connector");
  }
  there.list = one.list;
  there.credential = std::make_shared<no_keys>();
  auto units = cluster::inventory(one.in, topology_, means_of(which, life), one.probes);
  one.cluster
    = cluster::start(one.in, {}, one.roster, std::move(units), how, one.counts);
}

cluster::means node_cluster::means_of(unsigned which, std::uint64_t life) {
  cluster::means with;
  with.layout = model_.layout;
  with.patron = clients_;
  with.cost = costs_of(model_);
  with.driving = engine_host::driving::timed;
  with.only = node_index{which};
  with.make_engine = [this](const cluster::engine_wish& wish)
    -> result<std::shared_ptr<engine::engine>, std::string> {
    auto how = model_;
    how.arena_blocks
      = static_cast<std::uint32_t>(wish.arena.bytes / model_.layout.block_bytes());
    return std::shared_ptr<engine::engine>(engine::make_modelled_engine(how));
  };
  with.make_paths
    = [this, home = std::weak_ptr{nodes_[which]->home}](
        const transfer::shared_memory& memory, const transfer::news_of& news) {
        transfer::paths all;
        all.within = std::make_unique<transport::inline_local>(*memory.segments);
        all.ways.push_back(
          {"lab", payloads_.open(home.lock(), *memory.segments, news("lab"))});
        return all;
      };
  with.draw_ticket = [which, life, drawn = std::make_shared<unsigned>(0)] {
    transport::ticket fresh;
    ++*drawn;
    for (std::size_t i = 0; auto part : {which, static_cast<unsigned>(life), *drawn})
      for (unsigned byte = 0; byte < sizeof part; ++byte)
        fresh.secret[i++] = static_cast<std::byte>(part >> (8 * byte));
    return fresh;
  };
  return with;
}

void node_cluster::kill(unsigned which) {
  auto& one = *nodes_[which];
  one.home->kill();
  if (which == 0)
    clients_->gateway = nullptr;
  for_each_connection_of(*one.home,
                         [](connection& over, auto side) { over.kill(side); });
  nodes_[which] = nullptr;
}

void node_cluster::stop(unsigned which) {
  nodes_[which]->home->stop();
  watch_silence_of(which);
}

void node_cluster::wake(unsigned which) {
  nodes_[which]->home->wake();
}

void node_cluster::drain(unsigned which) {
  auto& one = *nodes_[which];
  one.client.tell<schema::Drain>(one.cluster, rt::unprompted, [](auto) {});
}

bool node_cluster::has_drained(unsigned which) const {
  return !nodes_[which]->roster.find(cluster_name{node_index{which}, 0});
}

std::string node_cluster::lose_actor(unsigned which, std::uint64_t pick) {
  const auto& roster = nodes_[which]->roster;
  std::vector<std::pair<std::string, std::function<void()>>> all;
  auto add = [&]<class Handle>(rt::name<Handle> whom, std::string role) {
    if (auto found = roster.find(whom))
      all.emplace_back(std::move(role), [who = found->actor] { rt::kill(who); });
  };
  const node_index at{which};
  add(prefill_name{at}, "prefill");
  add(decode_name{at}, "decode");
  add(shard_name{at}, "shard");
  add(transfer_name{at}, "transfer");
  add(engine_name{at, 0}, "engine 0");
  add(engine_name{at, 1}, "engine 1");
  add(gateway_name{at}, "gateway");
  add(rejector_name{at}, "rejector");
  add(conductor_name{at}, "conductor");
  if (all.empty())
    return "nobody";
  const auto& [role, kill] = all[pick % all.size()];
  kill();
  return role;
}

/// Whoever is connected to it gives it up, if it says nothing for that long.
void node_cluster::watch_silence_of(unsigned which) {
  auto& quiet = *nodes_[which]->home;
  for_each_connection_of(quiet, [&](connection& over, auto side) {
    auto other = side == connection::dialer ? connection::dialed : connection::dialer;
    auto home = over.home_of(other);
    if (!home)
      return;
    auto since = fleet_.now();
    auto limit = fleet_.between(silence_limit, silence_limit + heartbeat);
    home->hear_after(limit, [=, this, line = over.weak_from_this()] {
      auto still = line.lock();
      auto whom = still ? still->home_of(side) : nullptr;
      if (whom && whom->is_stopped() && whom->stopped_at() == since)
        still->give_up(other);
    });
  });
}

// -- connections --------------------------------------------------------------

template <class See>
void node_cluster::for_each_connection_of(const process& one, See see) {
  for (const auto& over : connections_)
    for (auto side : {connection::dialer, connection::dialed})
      if (over->home_of(side).get() == &one)
        see(*over, side);
}

std::shared_ptr<connection> node_cluster::between(const process& one,
                                                  const process& other) const {
  for (const auto& over : connections_)
    if (over->is_open() && over->home_of(connection::dialer).get() == &one
        && over->home_of(connection::dialed).get() == &other)
      return over;
  return nullptr;
}

/// As the threads that connect would.
void node_cluster::dial() {
  for (unsigned from = 0; from < shape_.nodes; ++from)
    for (unsigned to = 0; is_up(from) && to < from; ++to) {
      auto& one = *nodes_[from];
      if (one.dialing.contains(to) || !one.list->is_wished(node_index{to}))
        continue;
      bool is_again = one.list->take(node_index{to}).value();
      one.dialing.insert(to);
      one.home->hear_after(is_again ? wait_again : 0ms,
                           [=, this] { try_to_connect(from, to, wait_first); });
    }
}

void node_cluster::try_to_connect(unsigned from, unsigned to, nanoseconds wait) {
  auto& one = *nodes_[from];
  if (is_up(to))
    return one.home->hear_after(fleet_.between(200us, 2ms), [=, this] {
      if (is_up(to))
        return connect(*nodes_[from], to);
      try_to_connect(from, to, wait);
    });
  auto span = wait + (nodes_[to] ? answer_limit : nanoseconds{0});
  one.home->hear_after(
    span, [=, this] { try_to_connect(from, to, std::min(2 * wait, wait_most)); });
}

void node_cluster::connect(node& from, unsigned to) {
  auto& there = *nodes_[to];
  std::erase_if(connections_, [](const auto& one) { return one->is_over(); });
  auto over = between(*from.home, *there.home);
  if (!over)
    over = connections_.emplace_back(
      std::make_shared<connection>(fleet_, from.home, there.home));
  auto found
    = rt::restore_type<receiving_actor>(over->found(rt::erase_type(there.cluster)));
  from.dialing.erase(to);
  from.connectors.at(to).tell<schema::Found>(
    face_of(from.cluster), rt::unprompted, [&](auto news) { news.setIndex(to); },
    found);
}

// -- clients ------------------------------------------------------------------

std::uint64_t node_cluster::ask(const question& what) {
  auto stream = ++streams_;
  clients_->answers[stream].asked_at = fleet_.now();
  nodes_[0]->client.tell<schema::Submit>(
    clients_->gateway, rt::unprompted,
    [&](schema::Submit::Builder wish) { set_question(wish, stream, what); });
  return stream;
}

void node_cluster::withdraw(std::uint64_t stream) {
  clients_->answers[stream].withdrawn = true;
  nodes_[0]->client.tell<schema::Withdraw>(clients_->gateway, rt::unprompted,
                                           [&](auto wish) { wish.setStream(stream); });
}

// -- looking ------------------------------------------------------------------

namespace {

template <class Probe>
std::uint64_t number(const Probe& of, std::string_view wanted) {
  std::uint64_t found = 0;
  of.each([&](std::string_view name, std::string_view, auto value) {
    if constexpr (std::is_integral_v<decltype(value)>)
      if (name == wanted)
        found = static_cast<std::uint64_t>(value);
  });
  return found;
}

template <class Probes>
std::uint64_t sum(const Probes& all, std::string_view wanted) {
  std::uint64_t sum = 0;
  for (const auto& [where, one] : all)
    sum += number(*one, wanted);
  return sum;
}

} // namespace

std::size_t node_cluster::pairs_met() const {
  std::size_t met = 0;
  for (const auto& one : nodes_)
    met += one ? number(*one->counts, "nodes_met") : 0;
  return met / 2;
}

std::size_t node_cluster::lines_up() const {
  std::size_t up = 0;
  for (const auto& one : nodes_)
    up += one ? sum(one->probes.transfers, "lines_up") : 0;
  return up / 2;
}

std::uint64_t node_cluster::prefilled(unsigned which) const {
  return sum(nodes_[which]->probes.prefills, "chunks_total");
}

std::uint64_t node_cluster::decoded(unsigned which) const {
  return sum(nodes_[which]->probes.decodes, "accepted_total");
}

std::vector<std::string> node_cluster::left_over() const {
  auto found = clients_->complaints;
  for (const auto& one : nodes_)
    if (one)
      for (auto& each : test::left_over(one->probes))
        found.push_back(std::move(each));
  for (const auto& [stream, answer] : clients_->answers)
    if (answer.ends != 1 && !answer.withdrawn && !answer.lost_gateway)
      found.push_back("stream " + std::to_string(stream) + " ended "
                      + std::to_string(answer.ends) + " times");
  return found;
}

} // namespace perigee::test
