#include "actors/block_keys.hpp"
#include "actors/cluster/cluster.hpp"
#include "actors/cluster/inventory.hpp"
#include "actors/gateway/words.hpp"
#include "actors/runtime/doorway.hpp"
#include "engine/modelled/modelled_engine.hpp"
#include "schemas/convert.hpp"

#include <catch2/catch.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <condition_variable>
#include <mutex>
#include <thread>

// With real threads: what is waited for comes, or the test fails after a long while.

namespace perigee::cluster {
namespace {

using namespace std::chrono_literals;

/// Does not come back from a step until it is let go.
class hanging_engine final : public engine::engine {
public:
  explicit hanging_engine(std::unique_ptr<perigee::engine::engine> of)
    : of_(std::move(of)) {}

  const perigee::engine::model_info& model() const override {
    return of_->model();
  }
  perigee::engine::arena_view arena() const override {
    return of_->arena();
  }
  std::uint32_t batch_tokens_max() const override {
    return of_->batch_tokens_max();
  }

  result<void, perigee::engine::run_fault>
  run(std::span<perigee::engine::slice>, const perigee::engine::layer_hooks&) override {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return is_let_go_; });
    return failure(perigee::engine::run_fault::device);
  }

  void let_go() {
    std::lock_guard guard{mutex_};
    is_let_go_ = true;
    changed_.notify_all();
  }

private:
  std::unique_ptr<perigee::engine::engine> of_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_let_go_ = false;
};

/// One client, who asks for one answer after the other.
class client final : public gateway::patron {
public:
  struct told {
    std::size_t tokens = 0;
    gateway::stream_end end = gateway::stream_end::not_yet;
    std::optional<gateway::api_error> why;
  };

  void opened(const gateway_actor&) override {}
  void hear(gateway::prompt_scores) override {}
  void hear(std::vector<gateway::stream_news> news) override {
    std::lock_guard guard{mutex_};
    for (const auto& one : news) {
      auto& answer = answers_[one.stream];
      answer.tokens += one.tokens.size();
      answer.end = one.end;
      answer.why = one.why;
    }
    changed_.notify_all();
  }

  told wait_for(std::uint64_t stream) {
    std::unique_lock lock{mutex_};
    REQUIRE(changed_.wait_for(
      lock, 60s, [&] { return answers_[stream].end != gateway::stream_end::not_yet; }));
    return answers_[stream];
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, told> answers_;
};

/// One node. Of the engines that are made, that of number `hung` hangs.
class node {
public:
  explicit node(int hung) : system_(configure(config_)), hung_(hung) {
    topology all = laptop("none");
    all.cluster.engine_limit = 50ms;
    all.nodes[0].cache_shard->dram = {64 * model_.layout.block_bytes()};
    all.nodes[0].prefill_groups[0].arena = {64 * model_.layout.block_bytes()};
    all.nodes[0].decode_instances[0].arena = {64 * model_.layout.block_bytes()};
    means with;
    with.patron = clients_;
    with.layout = model_.layout;
    with.make_engine = [this](const engine_wish&) {
      return result<std::shared_ptr<engine::engine>, std::string>{make_engine()};
    };
    world_.emplace(
      rt::world{system_, rt::no_journal(), roster_, log_, "n0", node_index{0}});
    door_.emplace(*world_, "client");
    cluster_
      = start(*world_, {}, roster_, inventory(*world_, all, with, counts_), {}, state_);
    while (!state_->is_ready())
      std::this_thread::sleep_for(1ms);
  }

  ~node() {
    door_->tell<schema::Drain>(cluster_, rt::unprompted, [](auto) {});
    {
      caf::scoped_actor waits{system_};
      waits->wait_for(cluster_);
    }
    cluster_ = nullptr;
    roster_.clear();
    hangs_->let_go();
  }

  client::told ask(std::uint64_t stream) {
    auto gateway = roster_.find(gateway_name{});
    REQUIRE(gateway);
    const std::vector<engine::token_id> prompt{5, 6, 7, 8, 9, 10};
    rt::cause why;
    why.request = stream;
    door_->tell<schema::Submit>(gateway->actor, why, [&](schema::Submit::Builder wish) {
      wish.setStream(stream);
      wish.setTokens({prompt.data(), prompt.size()});
      wish.setLast(true);
      wish.setTokensMax(5);
      engine::sampling_params greedy;
      greedy.temperature = 0;
      gateway::set_sampling(wish.initSampling(), greedy);
      auto chain = wish.initChain();
      chain.setBlockTokens(model_.layout.block_tokens);
      chain.initRoot();
      chain.initKeys(0);
    });
    return clients_->wait_for(stream);
  }

  /// The engine's host, and its owner.
  void wait_for_respawn() const {
    for (int i = 0; i < 60'000 && (state_->respawns() < 2 || !state_->is_ready()); ++i)
      std::this_thread::sleep_for(1ms);
    REQUIRE(state_->respawns() == 2);
  }

private:
  static rt::system_config& configure(rt::system_config& config) {
    rt::learn_messages<caf::id_block::perigee>(config);
    return config;
  }

  std::shared_ptr<engine::engine> make_engine() {
    auto how = model_;
    how.arena_blocks = 64;
    auto one = engine::make_modelled_engine(how);
    if (made_++ != hung_)
      return one;
    return hangs_ = std::make_shared<hanging_engine>(std::move(one));
  }

  engine::modelled_options model_;
  std::shared_ptr<spdlog::logger> log_ = std::make_shared<spdlog::logger>(
    "quiet", std::make_shared<spdlog::sinks::null_sink_mt>());
  rt::roster roster_{64};
  rt::system_config config_;
  caf::actor_system system_;
  int hung_;
  int made_ = 0;
  std::shared_ptr<hanging_engine> hangs_;
  std::shared_ptr<client> clients_ = std::make_shared<client>();
  probes counts_;
  std::shared_ptr<probe> state_ = std::make_shared<probe>();
  std::optional<rt::world> world_;
  std::optional<rt::doorway> door_;
  cluster_actor cluster_;
};

TEST_CASE("requests of an engine that hangs fail by name, and the next is answered") {
  auto [hung, tokens] = GENERATE(table<int, std::size_t>({
    {0, 0}, // the prefill group's
    {1, 1}, // the decode instance's: the first token was the group's
  }));
  node all{hung};
  auto first = all.ask(1);
  CHECK(first.tokens == tokens);
  REQUIRE(first.why);
  CHECK(first.why->code == gateway::api_code::engine_failed);
  all.wait_for_respawn();
  auto second = all.ask(2);
  CHECK(second.end == gateway::stream_end::length);
  CHECK(second.tokens == 5);
}

} // namespace
} // namespace perigee::cluster
