#include "actors/engine_host/engine_host.hpp"
#include "actors/runtime/doorway.hpp"
#include "tests/actors/engine_host/forwards.hpp"

#include <catch2/catch.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <condition_variable>
#include <mutex>
#include <thread>

// With real threads: what is waited for comes, or the test fails after a long while.

namespace perigee::engine_host {
namespace {

using namespace std::chrono_literals;
using schema::EngineFault;

const tokens prompt{5, 6, 7, 8, 9, 10};

/// Takes a step only when it is let.
class patient_engine final : public engine::engine {
public:
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
  run(std::span<perigee::engine::slice> batch,
      const perigee::engine::layer_hooks& hooks) override {
    std::unique_lock lock{mutex_};
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return let_ > 0; });
    --let_;
    return of_->run(batch, hooks);
  }

  void let(int steps) {
    std::lock_guard guard{mutex_};
    let_ += steps;
    changed_.notify_all();
  }

  void wait_until_begun(int steps) {
    std::unique_lock lock{mutex_};
    REQUIRE(changed_.wait_for(lock, 60s, [=, this] { return begun_ >= steps; }));
  }

private:
  std::unique_ptr<perigee::engine::engine> of_
    = perigee::engine::make_modelled_engine(small_model());
  std::mutex mutex_;
  std::condition_variable changed_;
  int let_ = 0;
  int begun_ = 0;
};

/// A node of its own, with real threads; the test is the host's owner.
class node {
public:
  explicit node(std::shared_ptr<engine::engine> runs, options how = {})
    : system_(configure(config_)), door_(world(), "test") {
    auto hear = [this](const auto& said, auto) {
      std::lock_guard guard{mutex_};
      answers_.push_back(said);
      changed_.notify_all();
    };
    owner_ = rt::spawn<hearing_owner>(world(), {}, hearing_owner::hear{hear});
    REQUIRE(roster_.seat(decode_name{}, {owner_, {1, 1}, door_.tag()}));
    host = start(world(), {}, std::move(runs), gates, how);
  }

  ~node() {
    rt::kill(owner_);
    rt::kill(host);
    roster_.clear();
  }

  rt::world world() {
    return {system_, rt::no_journal(), roster_, log_, "n0", node_index{0}};
  }

  void tell(const forward& wish) {
    door_.tell<schema::Forward>(host, rt::unprompted, wish);
  }
  void interrupt(std::uint64_t ticket) {
    door_.tell<schema::Interrupt>(host, rt::unprompted,
                                  [=](auto wish) { wish.setTicket(ticket); });
  }

  schema::RunResult::Reader wait_for(std::size_t answer) {
    std::unique_lock lock{mutex_};
    REQUIRE(changed_.wait_for(lock, 60s, [&] { return answers_.size() > answer; }));
    return answers_[answer]->getResult();
  }

  std::shared_ptr<transport::gate_board> gates = transport::gate_board::make();
  engine_actor host;

private:
  static rt::system_config& configure(rt::system_config& config) {
    rt::learn_messages<caf::id_block::perigee>(config);
    return config;
  }

  rt::roster roster_{16};
  std::shared_ptr<spdlog::logger> log_ = std::make_shared<spdlog::logger>(
    "quiet", std::make_shared<spdlog::sinks::null_sink_mt>());
  rt::system_config config_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Msg<schema::Forwarded>> answers_;
  caf::actor_system system_;
  rt::doorway door_;
  decode_actor owner_;
};

forward whole(std::uint32_t steps_max) {
  return {.steps_max = steps_max,
          .begins = {1},
          .parts = {{.fed = prompt, .blocks = {4, 2, 9, 1, 0}, .steps = 100}}};
}

TEST_CASE("an engine on a thread of its own gives the same tokens") {
  node all{engine::make_modelled_engine(small_model())};
  all.tell(whole(9));
  CHECK(drawn_for(all.wait_for(0)) == expected(prompt, 9));
}

TEST_CASE("an interrupt ends a run between two steps of the thread") {
  auto runs = std::make_shared<patient_engine>();
  node all{runs};
  all.tell(whole(9));
  runs->let(2);
  runs->wait_until_begun(3);
  all.interrupt(1);
  auto next = whole(1);
  next.ticket = 2;
  next.ends = {1};
  all.tell(next); // by when this was taken, so was the interrupt
  runs->let(1);
  // The run may have taken one step more, if the actor was slow to hear of it.
  runs->let(20);
  auto steps = all.wait_for(0).getSteps().size();
  CHECK(steps >= 3);
  CHECK(steps <= 9);
  CHECK(drawn_for(all.wait_for(0)) == expected(prompt, steps));
  CHECK(drawn_for(all.wait_for(1)) == expected(prompt, 1));
}

TEST_CASE("a thread waits at gates, and opens others, layer by layer") {
  node all{engine::make_modelled_engine(small_model())};
  auto arrives = all.gates->open(transport::gate_id{70});
  auto leaves = all.gates->open(transport::gate_id{71});
  auto wish = whole(1);
  wish.parts[0].await_gate = 70;
  wish.parts[0].open_gate = 71;
  all.tell(wish);
  arrives->open_to(1);
  CHECK(leaves->wait(0, 60s)); // the first layer is computed, the second can't be
  CHECK(leaves->read().level == 1);
  arrives->open_to(2);
  CHECK(drawn_for(all.wait_for(0)) == expected(prompt, 1));
  CHECK(leaves->read().level == 2);
}

TEST_CASE("a thread whose gate fails starves, and fails who waits for it") {
  node all{engine::make_modelled_engine(small_model())};
  auto arrives = all.gates->open(transport::gate_id{70});
  auto leaves = all.gates->open(transport::gate_id{71});
  auto wish = whole(1);
  wish.parts[0].await_gate = 70;
  wish.parts[0].open_gate = 71;
  all.tell(wish);
  arrives->open_to(1);
  CHECK(leaves->wait(0, 60s));
  arrives->fail();
  CHECK(all.wait_for(0).getFault() == EngineFault::STARVED);
  CHECK(leaves->read().failed);
}

TEST_CASE("a thread waits no longer than it may") {
  node all{engine::make_modelled_engine(small_model()), {.gate_limit = 1ms}};
  auto never = all.gates->open(transport::gate_id{70});
  auto wish = whole(1);
  wish.parts[0].await_gate = 70;
  all.tell(wish);
  CHECK(all.wait_for(0).getFault() == EngineFault::STARVED);
}

TEST_CASE("what a thread computes between gates is no waiting") {
  node all{engine::make_modelled_engine(small_model()), {.gate_limit = 0ms}};
  auto arrived = all.gates->open(transport::gate_id{70});
  arrived->open_to(2);
  auto wish = whole(1);
  wish.parts[0].await_gate = 70;
  all.tell(wish);
  CHECK(drawn_for(all.wait_for(0)) == expected(prompt, 1));
}

TEST_CASE("a host that ends takes a thread that waits with it") {
  transport::owned_gate never;
  std::weak_ptr<engine::engine> runs;
  {
    std::shared_ptr<engine::engine> one = engine::make_modelled_engine(small_model());
    runs = one;
    node all{std::move(one)};
    never = all.gates->open(transport::gate_id{70});
    auto wish = whole(1);
    wish.parts[0].await_gate = 70;
    all.tell(wish);
  }
  CHECK(runs.expired());
}

TEST_CASE("an engine that doesn't come back is given up, and left alone") {
  auto runs = std::make_shared<patient_engine>();
  std::weak_ptr<engine::engine> left = runs;
  {
    node all{runs, {.run_limit = 20ms}};
    all.tell(whole(9));
    auto next = whole(1);
    next.ticket = 2;
    all.tell(next);
    CHECK(all.wait_for(0).getFault() == EngineFault::DEVICE);
    CHECK(all.wait_for(1).getFault() == EngineFault::DEVICE);
    CHECK(all.wait_for(1).getTicket() == 2);
  } // its host has ended, and so has the actor system
  runs->wait_until_begun(1);
  runs->let(9); // it comes back after all, to nobody
  runs.reset();
  for (int i = 0; i < 60'000 && !left.expired(); ++i)
    std::this_thread::sleep_for(1ms);
  CHECK(left.expired());
}

TEST_CASE("an engine that takes its time, but not more, is not given up") {
  auto runs = std::make_shared<patient_engine>();
  node all{runs, {.run_limit = 10min}};
  for (std::uint64_t ticket = 1; ticket <= 5; ++ticket) {
    auto wish = whole(1);
    wish.ticket = ticket;
    if (ticket > 1)
      wish.ends = {1};
    all.tell(wish);
    runs->let(1);
    CHECK(drawn_for(all.wait_for(ticket - 1)) == expected(prompt, 1));
  }
}

} // namespace
} // namespace perigee::engine_host
