#include "actors/engine_host/forward_run.hpp"

#include "tests/actors/engine_host/forwards.hpp"

#include <catch2/catch.hpp>

namespace perigee::engine_host {
namespace {

const tokens prompt{5, 6, 7, 8, 9, 10};

struct fixture {
  /// Runs `wish` to its end.
  run_record run(const forward& wish) {
    forward_run all{*runs, table, wish.message()};
    while (all.has_step())
      all.step({});
    return all.record();
  }

  static tokens drawn(const run_record& of) {
    tokens all;
    for (const auto& step : of.steps)
      for (const auto& one : step.drawn)
        all.push_back(one.what.token);
    return all;
  }

  std::shared_ptr<engine::engine> runs = engine::make_modelled_engine(small_model());
  sequence_table table{limits_of(*runs, 100)};
  work whole{.fed = prompt, .blocks = {4, 2, 9, 1, 0}, .steps = 100};
};

TEST_CASE_METHOD(fixture, "a run feeds what it drew") {
  auto of = run({.steps_max = 9, .begins = {1}, .parts = {whole}});
  CHECK(drawn(of) == expected(prompt, 9));
  CHECK(of.steps.size() == 9);
}

TEST_CASE_METHOD(fixture, "a prompt in pieces gives what the whole does") {
  run({.begins = {1}, .parts = {{.fed = {5, 6, 7}, .blocks = {4, 2, 9}}}});
  run({.parts = {{.first_position = 3, .fed = {8}}}});
  auto of = run({.parts = {{.first_position = 4, .fed = {9, 10}, .steps = 1}}});
  CHECK(drawn(of) == expected(prompt, 1));
}

TEST_CASE_METHOD(fixture, "a run ends when somebody takes no further part") {
  auto other = whole;
  other.sequence = 2;
  other.blocks = {20, 21, 22, 23, 24};
  other.steps = 3;
  auto of = run({.steps_max = 9, .begins = {1, 2}, .parts = {whole, other}});
  CHECK(of.steps.size() == 3);
  auto stops = run({.steps_max = 9,
                    .ends = {1},
                    .begins = {1},
                    .parts = {whole},
                    .modelled_tokens = 4});
  CHECK(stops.steps.size() == 4);
  CHECK(stops.steps.back().drawn.front().stopped);
  CHECK(drawn(stops).back() == engine::modelled_end);
}

TEST_CASE_METHOD(fixture, "steps that are taken back were never taken") {
  forward_run all{*runs, table,
                  forward{.steps_max = 9, .begins = {1}, .parts = {whole}}.message()};
  while (all.has_step())
    all.step({});
  all.end_after(4);
  CHECK_FALSE(all.has_step());
  auto first = drawn(all.record());
  CHECK(first == expected(prompt, 4));
  auto rest
    = run({.steps_max = 5,
           .parts = {{.first_position = 9, .fed = {first.back()}, .steps = 5}}});
  auto again = drawn(rest);
  CHECK(again.size() == 5);
  first.insert(first.end(), again.begin(), again.end());
  CHECK(first == expected(prompt, 9));
}

TEST_CASE_METHOD(fixture, "a bad Forward has no step, and changes nothing") {
  auto of = run({.ends = {7}, .begins = {1}, .parts = {whole}});
  CHECK(of.fault == schema::EngineFault::BAD_BATCH);
  CHECK(of.steps.empty());
  CHECK(table.size() == 0);
}

TEST_CASE_METHOD(fixture, "all tokens but the first are scored, whatever the pieces") {
  auto one_piece
    = run({.begins = {1}, .parts = {{.fed = prompt, .blocks = {4, 2}, .scores = 2}}});
  auto first = run({.ends = {1},
                    .begins = {1},
                    .parts = {{.fed = {5, 6}, .blocks = {4, 2}, .scores = 2}}});
  auto second
    = run({.parts = {{.first_position = 2, .fed = {7, 8, 9, 10}, .scores = 2}}});
  REQUIRE(one_piece.scored.size() == 1);
  CHECK(one_piece.scored[0].first_position == 1);
  CHECK(one_piece.scored[0].of.size() == 5);
  CHECK(first.scored[0].first_position == 1);
  CHECK(first.scored[0].of.size() == 1);
  CHECK(second.scored[0].first_position == 2);
  REQUIRE(second.scored[0].of.size() == 4);
  for (std::size_t i = 0; i < 5; ++i) {
    const auto& a = one_piece.scored[0].of[i];
    const auto& b = i < 1 ? first.scored[0].of[i] : second.scored[0].of[i - 1];
    CHECK(a.token == prompt[i + 1]);
    CHECK(b.token == a.token);
    CHECK(b.logprob == a.logprob);
    CHECK(b.top.size() == 2);
  }
}

TEST_CASE_METHOD(fixture, "no work is no step, and no fault") {
  auto of = run({.begins = {1}});
  CHECK(of.steps.empty());
  CHECK(of.fault == schema::EngineFault::NONE);
  CHECK(table.size() == 1);
}

TEST_CASE("a run ends before its result is larger than a message") {
  auto model = small_model();
  model.checked = false;
  model.context_tokens_max = 1u << 20;
  model.layout.block_tokens = 1u << 13;
  auto runs = engine::make_modelled_engine(model);
  sequence_table table{limits_of(*runs, 100)};
  forward wish{.steps_max = 4096};
  for (std::uint32_t i = 1; i <= 16; ++i) {
    wish.begins.push_back(i);
    wish.parts.push_back({.sequence = i, .fed = {i}, .blocks = {i}, .steps = 4096});
  }
  forward_run all{*runs, table, wish.message()};
  while (all.has_step())
    all.step({});
  CHECK(all.record().steps.size() < 4096);
  auto said = Msg<schema::Forwarded>::build(
    [&](schema::Forwarded::Builder to) { set_result(to.initResult(), all.record()); });
  CHECK(said.words().size() < message_words_max / 2);
  CHECK(said.words().size() > message_words_max / 16);
}

} // namespace
} // namespace perigee::engine_host
