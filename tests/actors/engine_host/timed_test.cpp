#include "actors/engine_host/engine_host.hpp"
#include "tests/actors/engine_host/forwards.hpp"
#include "tests/lab/perigee_messages.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::engine_host {
namespace {

using namespace std::chrono_literals;
using ns = std::chrono::nanoseconds;
using schema::EngineFault;

const tokens prompt{5, 6, 7, 8, 9, 10};
const tokens table{4, 2, 9, 1, 0};

/// The test is the host's owner.
struct bench_of_one {
  explicit bench_of_one(std::uint64_t seed, options how = {.how = driving::timed})
    : bench(seed) {
    auto hear
      = [this](const auto& said, ns at) { answers.emplace_back(at - began, said); };
    decode_actor owner = bench.spawn<hearing_owner>(hearing_owner::hear{hear});
    REQUIRE(bench.roster().seat(decode_name{}, {owner, {1, 1}, bench.tag()}));
    host = bench.adopt(start(bench.world(), {},
                             engine::make_modelled_engine(small_model()), gates, how,
                             counts));
  }

  void tell(const forward& wish) {
    bench.tell<schema::Forward>(host, wish);
  }

  void interrupt(std::uint64_t ticket) {
    bench.tell<schema::Interrupt>(host, [=](auto wish) { wish.setTicket(ticket); });
  }

  schema::RunResult::Reader answer(std::size_t i) const {
    return answers.at(i).second->getResult();
  }

  std::shared_ptr<transport::gate_board> gates = transport::gate_board::make();
  std::shared_ptr<probe> counts = std::make_shared<probe>();
  std::vector<std::pair<ns, Msg<schema::Forwarded>>> answers; // and when
  test::lab<caf::id_block::perigee> bench;
  ns began = bench.now();
  engine_actor host;
};

forward whole(std::uint32_t steps_max) {
  return {.steps_max = steps_max,
          .begins = {1},
          .parts = {{.fed = prompt, .blocks = table, .steps = 100}}};
}

TEST_CASE("a run is answered when its cost has passed") {
  FOR_EVERY_SEED(seed);
  bench_of_one all{seed};
  all.tell(whole(5));
  all.bench.advance(10ms - 1ns);
  CHECK(all.answers.empty());
  all.bench.advance(1ns);
  REQUIRE(all.answers.size() == 1);
  CHECK(drawn_for(all.answer(0)) == expected(prompt, 5));
  CHECK(all.answer(0).getSteps()[0].getDurationNs() == 6'000'000);
  CHECK(all.answer(0).getSteps()[4].getDurationNs() == 1'000'000);
}

TEST_CASE("a slow engine takes longer for each step that begins while it is slow") {
  FOR_EVERY_SEED(seed);
  options how{.how = driving::timed};
  how.slow_spells = {{7ms, 9ms, 4}};
  bench_of_one all{seed, how};
  all.tell(whole(5));
  all.bench.advance(13ms - 1ns);
  CHECK(all.answers.empty());
  all.bench.advance(1ns);
  REQUIRE(all.answers.size() == 1);
  auto steps = all.answer(0).getSteps();
  CHECK(steps[0].getDurationNs() == 6'000'000);
  CHECK(steps[1].getDurationNs() == 1'000'000);
  CHECK(steps[2].getDurationNs() == 4'000'000);
  CHECK(steps[3].getDurationNs() == 1'000'000);
}

TEST_CASE("a second Forward waits for the first; a third is a bug") {
  FOR_EVERY_SEED(seed);
  bench_of_one all{seed};
  all.tell(whole(1));
  auto next = whole(1);
  next.ticket = 2;
  next.ends = {1};
  all.tell(next);
  next.ticket = 3;
  all.tell(next);
  CHECK_THROWS_WITH(all.bench.settle(), Catch::Contains("too_many_forwards"));
  all.bench.record().complaints.clear();
  REQUIRE(all.answers.size() == 1);
  CHECK(all.answer(0).getTicket() == 3);
  CHECK(all.answer(0).getFault() == EngineFault::BUSY);
  all.bench.advance(12ms);
  REQUIRE(all.answers.size() == 3);
  CHECK(all.answers[1].first == 6ms);
  CHECK(all.answers[2].first == 12ms);
  CHECK(drawn_for(all.answer(2)) == expected(prompt, 1));
}

TEST_CASE("an interrupt ends a run after the step that it is in") {
  FOR_EVERY_SEED(seed);
  bench_of_one all{seed};
  auto at = GENERATE(0ms, 3ms, 6ms, 8ms, 9ms);
  all.tell(whole(10));
  all.bench.advance(at == 0ms ? ns{0} : ns{at} - 1us);
  all.interrupt(1);
  all.bench.advance(20ms);
  auto steps = at <= 6ms ? 1 : at == 8ms ? 3 : 4;
  REQUIRE(all.answers.size() == 1);
  CHECK(all.answers[0].first == ns{5ms} + steps * 1ms);
  CHECK(drawn_for(all.answer(0)) == expected(prompt, static_cast<std::size_t>(steps)));
  auto last = drawn_for(all.answer(0)).back();
  all.tell({.ticket = 2,
            .steps_max = 3,
            .parts = {{.first_position = static_cast<std::uint32_t>(5 + steps),
                       .fed = {last},
                       .steps = 3}}});
  all.bench.advance(20ms);
  auto both = drawn_for(all.answer(0));
  for (auto token : drawn_for(all.answer(1)))
    both.push_back(token);
  CHECK(both == expected(prompt, static_cast<std::size_t>(steps) + 3));
}

TEST_CASE("an interrupt that comes too late, or for what is to come, is heeded there") {
  FOR_EVERY_SEED(seed);
  bench_of_one all{seed};
  all.tell(whole(2));
  auto next = whole(10);
  next.ticket = 2;
  next.ends = {1};
  all.tell(next);
  all.interrupt(2); // it has not begun
  all.bench.advance(20ms);
  REQUIRE(all.answers.size() == 2);
  CHECK(all.answer(0).getSteps().size() == 2);
  CHECK(all.answer(1).getSteps().size() == 1);
  all.interrupt(2);
  all.bench.settle();
  CHECK(all.answers.size() == 2);
}

TEST_CASE("runs longer than what is computed ahead are whole, and may be interrupted") {
  FOR_EVERY_SEED(seed);
  auto model = small_model();
  bench_of_one all{seed};
  forward wish{.steps_max = 200,
               .begins = {1},
               .parts = {{.fed = {5}, .blocks = tokens(16), .steps = 63}}};
  for (std::uint32_t i = 0; i < 16; ++i)
    wish.parts[0].blocks[i] = i;
  all.tell(wish);
  all.bench.advance(1s);
  REQUIRE(all.answers.size() == 1);
  CHECK(drawn_for(all.answer(0)) == expected({5}, 63));
}

TEST_CASE("a layer is computed after its gate was open") {
  FOR_EVERY_SEED(seed);
  bench_of_one all{seed};
  auto arrives = all.gates->open(transport::gate_id{70});
  auto leaves = all.gates->open(transport::gate_id{71});
  auto wish = whole(1);
  wish.parts[0].await_gate = 70;
  wish.parts[0].open_gate = 71;
  all.tell(wish);
  all.bench.advance(20ms);
  arrives->open_to(1);
  all.bench.advance(1ms);
  arrives->open_to(2); // at 21 ms; the second of two layers takes half of the cost
  all.bench.advance(5ms - 1ns);
  CHECK(all.answers.empty());
  CHECK(leaves->read().level == 0);
  all.bench.advance(1ns);
  REQUIRE(all.answers.size() == 1);
  CHECK(drawn_for(all.answer(0)) == expected(prompt, 1));
  CHECK(leaves->read().level == 2);
}

TEST_CASE("a gate that says when its layers opened is believed") {
  FOR_EVERY_SEED(seed);
  bench_of_one all{seed};
  auto arrives = all.gates->open(transport::gate_id{70});
  auto wish = whole(1);
  wish.parts[0].await_gate = 70;
  all.tell(wish);
  auto first = GENERATE(1ms, 4ms); // sooner than the second needs it, or later
  all.bench.advance(4ms);
  arrives->date({all.began + first, all.began + 4ms});
  arrives->open_to(2);
  all.bench.advance(1h);
  REQUIRE(all.answers.size() == 1);
  CHECK(all.answers[0].first == (first == 1ms ? 7ms : 10ms)); // of 6 for both
}

TEST_CASE("gates that were open before cost nothing") {
  FOR_EVERY_SEED(seed);
  bench_of_one all{seed};
  auto arrives = all.gates->open(transport::gate_id{70});
  arrives->open_to(2);
  auto wish = whole(1);
  wish.parts[0].await_gate = 70;
  all.tell(wish);
  all.bench.advance(6ms);
  CHECK(all.answers.size() == 1);
}

TEST_CASE("a layer that does not come starves a Forward, and fails who waits for it") {
  FOR_EVERY_SEED(seed);
  bench_of_one all{seed, {.how = driving::timed, .gate_limit = 50ms}};
  auto leaves = all.gates->open(transport::gate_id{71});
  auto wish = whole(1);
  wish.parts[0].await_gate = 70;
  wish.parts[0].open_gate = 71;
  auto never = transport::owned_gate{};
  auto how = GENERATE(0, 1, 2); // there is none; it fails; it stays shut
  if (how > 0)
    never = all.gates->open(transport::gate_id{70});
  all.tell(wish);
  all.bench.advance(49ms);
  CHECK(all.answers.size() == (how == 0 ? 1 : 0));
  if (how == 1)
    never->fail();
  all.bench.advance(how == 2 ? 1ms : 0ms);
  REQUIRE(all.answers.size() == 1);
  CHECK(all.answer(0).getFault() == EngineFault::STARVED);
  CHECK(leaves->read().failed);
  auto again = whole(1);
  again.begins = {};
  again.ticket = 2;
  all.tell(again);
  all.bench.advance(6ms);
  CHECK(drawn_for(all.answer(1)) == expected(prompt, 1));
}

TEST_CASE("a bad Forward is answered at once, and the next is not disturbed") {
  FOR_EVERY_SEED(seed);
  bench_of_one all{seed};
  auto bad = whole(1);
  bad.parts[0].fed = {100'000};
  all.tell(bad);
  all.bench.settle();
  REQUIRE(all.answers.size() == 1);
  CHECK(all.answer(0).getFault() == EngineFault::BAD_BATCH);
  all.tell(whole(1));
  all.bench.advance(6ms);
  CHECK(drawn_for(all.answer(1)) == expected(prompt, 1));
}

TEST_CASE("what is not the owner's is dropped") {
  FOR_EVERY_SEED(seed);
  bench_of_one all{seed};
  rt::world elsewhere = all.bench.world();
  elsewhere.node = "elsewhere";
  rt::doorway stranger{elsewhere, "stranger"};
  stranger.tell<schema::Forward>(all.host, rt::unprompted, whole(1));
  all.tell(whole(9));
  stranger.tell<schema::Interrupt>(all.host, rt::unprompted,
                                   [](auto wish) { wish.setTicket(1); });
  stranger.tell<schema::Ran>(all.host, rt::unprompted,
                             [](auto ran) { ran.setNumber(1); });
  all.bench.advance(20ms);
  REQUIRE(all.answers.size() == 1);
  CHECK(all.answer(0).getSteps().size() == 9);
}

TEST_CASE("a host says how it was started") {
  CHECK(to_string(options{})
        == "how=threaded gate_limit_ms=10000 run_limit_ms=300000 "
           "sequences_max=65536 slow_spells=0");
}

} // namespace
} // namespace perigee::engine_host
