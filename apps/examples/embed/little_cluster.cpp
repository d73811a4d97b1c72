#include "little_cluster.hpp"

#include "actors/block_keys.hpp"
#include "parrot.hpp"
#include "schemas/convert.hpp"

#include <thread>

namespace embed {

using namespace perigee;

// -- the client ---------------------------------------------------------------

std::future<std::string> patient_client::expect_answer() {
  std::lock_guard guard{mutex_};
  letters_.clear();
  answer_ = {};
  return answer_.get_future();
}

void patient_client::opened(const gateway_actor&) {} // the roster has it, too

void patient_client::hear(std::vector<gateway::stream_news> news) {
  std::lock_guard guard{mutex_};
  for (const auto& one : news) {
    for (const auto& drawn : one.tokens)
      letters_ += static_cast<char>(drawn.token);
    if (one.end == gateway::stream_end::failed)
      answer_.set_value("failed: " + (one.why ? one.why->message : "nobody knows why"));
    else if (one.end != gateway::stream_end::not_yet)
      answer_.set_value(letters_);
  }
}

void patient_client::hear(gateway::prompt_scores) {}

// -- the cluster --------------------------------------------------------------

own_config::own_config() {
  rt::learn_messages<caf::id_block::perigee>(*this);
}

namespace {

cluster::means means_of(std::uint32_t period, std::shared_ptr<patient_client> client) {
  cluster::means with;
  with.patron = std::move(client);
  with.layout = parrot::layout();
  with.make_engine = [period](const cluster::engine_wish& what)
    -> result<std::shared_ptr<engine::engine>, std::string> {
    auto blocks
      = static_cast<std::uint32_t>(what.arena.bytes / parrot::layout().block_bytes());
    return std::shared_ptr<engine::engine>{
      std::make_shared<parrot>(period, blocks, what.batch_tokens_max)};
  };
  return with;
}

cluster::topology topology_of(const std::string& name) {
  auto all = cluster::laptop("none");
  all.cluster.control = name;
  all.nodes[0].name = name;
  all.nodes[0].cache_shard->dram = {1 << 20};
  all.nodes[0].prefill_groups[0].arena = {1 << 20};
  all.nodes[0].decode_instances[0].arena = {1 << 20};
  return all;
}

} // namespace

little_cluster::little_cluster(std::string name, std::uint32_t period,
                               std::shared_ptr<spdlog::logger> log)
  : system_(config_),
    roster_(64), world_{system_, rt::no_journal(), roster_, std::move(log), name},
    cluster_(cluster::start(
      world_, {}, roster_,
      cluster::inventory(world_, topology_of(name), means_of(period, client_), counts_),
      {}, state_)),
    door_(world_, "client") {
  while (!state_->is_ready())
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

little_cluster::~little_cluster() {
  door_.tell<schema::Drain>(cluster_, rt::unprompted, [](auto) {});
  caf::scoped_actor {
    system_
    } -> wait_for(cluster_);
  cluster_ = nullptr;
  roster_.clear(); // no handle may outlive the system
}

std::string little_cluster::ask(const std::string& prompt, std::uint32_t letters) {
  auto answer = client_->expect_answer();
  submit(prompt, letters);
  if (answer.wait_for(std::chrono::seconds{30}) != std::future_status::ready)
    return "no answer in time";
  return answer.get();
}

void little_cluster::submit(const std::string& prompt, std::uint32_t letters) {
  static constexpr std::uint32_t block_tokens = 16;
  std::vector<std::uint32_t> tokens(prompt.begin(), prompt.end());
  auto root = root_key({.block_tokens = block_tokens});
  rt::cause why;
  why.request = ++streams_;
  auto gateway = roster_.find(gateway_name{});
  if (!gateway)
    return;
  door_.tell<schema::Submit>(gateway->actor, why, [&](schema::Submit::Builder wish) {
    wish.setStream(streams_);
    auto list = wish.initTokens(static_cast<unsigned>(tokens.size()));
    for (unsigned i = 0; i < list.size(); ++i)
      list.set(i, tokens[i]);
    wish.setLast(true);
    wish.initSampling().setTemperature(0);
    wish.setTokensMax(letters);
    auto chain = wish.initChain();
    set_chain(chain, keys_of(root, tokens, block_tokens));
    chain.setBlockTokens(block_tokens);
    chain.initRoot().setHigh(root.high);
    chain.getRoot().setLow(root.low);
  });
}

} // namespace embed
