#include "actors/coupled_instance/schedule.hpp"

#include "tests/actors/coupled_instance/texts.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace perigee::test {
namespace {

using coupled::iteration;
using coupled::line_limits;
using coupled::request_line;
using coupled::share;

request_line line_of(std::uint32_t blocks, line_limits limits, bool keeps = false) {
  return {coupled::arena_tables{blocks, block_tokens, keeps}, limits};
}

/// As an engine does: feeds, and draws for whoever has nothing left to feed.
void carry_out(request_line& line, const iteration& batch) {
  for (const auto& part : batch.work) {
    auto& one = line.at(part.request);
    bool draws = part.tokens == one.rest();
    line.fed(one, part.tokens);
    for (std::uint32_t step = 0; draws && step < batch.steps; ++step) {
      if (step > 0)
        line.fed(one, 1);
      line.drew(one, 5);
    }
  }
}

std::vector<share> work_of(std::initializer_list<share> some) {
  return some;
}

SCENARIO("prefill_first computes whole prompts before anybody decodes") {
  GIVEN("two prompts that fit the budget, and one that does not") {
    auto line = line_of(1000, {.token_budget = 100});
    line.add(1, text_of(1, 40));
    line.add(2, text_of(1, 50));
    line.add(3, text_of(1, 60));
    WHEN("the next batch is made") {
      auto first = coupled::schedule_prefill_first(line);
      THEN("the two are in it, in the order they came") {
        CHECK(first.work == work_of({{1, 40}, {2, 50}}));
        CHECK(first.steps == 1);
      }
      AND_WHEN("it was carried out") {
        carry_out(line, first);
        auto second = coupled::schedule_prefill_first(line);
        THEN("the third is next, and nobody decodes meanwhile") {
          CHECK(second.work == work_of({{3, 60}}));
        }
        AND_WHEN("that, too") {
          carry_out(line, second);
          THEN("all decode") {
            CHECK(coupled::schedule_prefill_first(line).work
                  == work_of({{1, 1}, {2, 1}, {3, 1}}));
          }
        }
      }
    }
  }
  GIVEN("a prompt that is longer than the budget, while somebody decodes") {
    auto line = line_of(1000, {.token_budget = 100});
    line.add(1, text_of(1, 40));
    carry_out(line, coupled::schedule_prefill_first(line));
    line.add(2, text_of(1, 250));
    line.add(3, text_of(1, 10));
    THEN("it is computed in several batches, and nobody has a part in them") {
      for (auto tokens : {100u, 100u, 50u}) {
        auto batch = coupled::schedule_prefill_first(line);
        CHECK(batch.work == work_of({{2, tokens}}));
        carry_out(line, batch);
      }
      CHECK(coupled::schedule_prefill_first(line).work == work_of({{3, 10}}));
    }
  }
}

SCENARIO("prefill_first lets nobody begin for whom there are no blocks") {
  GIVEN("an arena of ten blocks, of which one must stay available") {
    auto line = line_of(10, {.token_budget = 1000, .watermark = 0.1});
    line.add(1, text_of(1, 64)); // 4 blocks
    line.add(2, text_of(1, 96)); // 6
    line.add(3, text_of(1, 16)); // 1
    WHEN("the second would take the last one") {
      auto batch = coupled::schedule_prefill_first(line);
      THEN("it waits, and so does who comes behind it") {
        CHECK(batch.work == work_of({{1, 64}}));
        carry_out(line, batch);
        CHECK(coupled::schedule_prefill_first(line).work == work_of({{1, 1}}));
        CHECK(line.waiting() == 2);
      }
      AND_WHEN("the first has ended") {
        carry_out(line, batch);
        line.remove(1);
        THEN("both begin") {
          CHECK(coupled::schedule_prefill_first(line).work
                == work_of({{2, 96}, {3, 16}}));
        }
      }
    }
  }
}

SCENARIO("chunked lets who decodes go first, and fills up with prompts") {
  GIVEN("one that decodes, and two prompts") {
    auto line = line_of(1000, {.token_budget = 100});
    line.add(1, text_of(1, 40));
    carry_out(line, coupled::schedule_chunked(line));
    line.add(2, text_of(1, 150));
    line.add(3, text_of(1, 80));
    THEN("each batch spends its budget, and the last prompt in it is cut") {
      for (const auto& expected :
           {work_of({{1, 1}, {2, 99}}), work_of({{1, 1}, {2, 51}, {3, 48}}),
            work_of({{1, 1}, {2, 1}, {3, 32}}), work_of({{1, 1}, {2, 1}, {3, 1}})}) {
        auto batch = coupled::schedule_chunked(line);
        CHECK(batch.work == expected);
        CHECK(batch.steps == 1);
        carry_out(line, batch);
      }
    }
  }
  GIVEN("as many sequences as may be served") {
    auto line = line_of(1000, {.token_budget = 100, .sequences_max = 2});
    for (std::uint64_t request : {1, 2, 3})
      line.add(request, text_of(1, 10));
    THEN("the next one waits") {
      CHECK(coupled::schedule_chunked(line).work == work_of({{1, 10}, {2, 10}}));
    }
  }
}

SCENARIO("who came last makes room, and is computed again with what it answered") {
  auto schedule = GENERATE(coupled::schedule_prefill_first, coupled::schedule_chunked);
  GIVEN("an arena that two sequences fill") {
    auto line = line_of(4, {.token_budget = 1000});
    line.add(1, text_of(1, 31));
    line.add(2, text_of(1, 31));
    line.add(3, text_of(1, 5));
    auto batch = schedule(line);
    REQUIRE(batch.work == work_of({{1, 31}, {2, 31}}));
    carry_out(line, batch);
    carry_out(line, schedule(line)); // position 31 is the last that has a block
    WHEN("both need another block") {
      batch = schedule(line);
      THEN("the younger goes, to the front; nobody begins in its place") {
        CHECK(batch.preempted == std::vector<std::uint64_t>{2});
        CHECK(batch.work == work_of({{1, 1}}));
        CHECK(line.next()->request == 2);
        CHECK(line.next()->rest() == 33); // prompt and two tokens
      }
      AND_WHEN("the older has ended") {
        carry_out(line, batch);
        line.remove(1);
        batch = schedule(line);
        THEN("it begins again, before who came later") {
          CHECK(batch.work == work_of({{2, 33}, {3, 5}}));
        }
      }
    }
  }
}

TEST_CASE("whom the whole arena does not hold any more is ended") {
  auto schedule = GENERATE(coupled::schedule_prefill_first, coupled::schedule_chunked);
  auto line = line_of(2, {.token_budget = 1000});
  line.add(1, text_of(1, 32));
  carry_out(line, schedule(line));
  auto batch = schedule(line); // a third block
  CHECK(batch.work.empty());
  CHECK(batch.hopeless == 1u);
}

SCENARIO("a run is as long as nothing changes by it") {
  auto schedule = GENERATE(coupled::schedule_prefill_first, coupled::schedule_chunked);
  GIVEN("two that decode, in runs of up to 64 steps") {
    auto line = line_of(1000, {.token_budget = 1000, .steps_max = 64});
    line.add(1, text_of(1, 20, 0, 100));
    line.add(2, text_of(1, 16, 0, 7));
    carry_out(line, schedule(line));
    THEN("a run ends with the first answer that does") {
      auto batch = schedule(line);
      CHECK(batch.work == work_of({{1, 1}, {2, 1}}));
      CHECK(batch.steps == 6);
    }
    THEN("or where the first block is full") {
      line.remove(2);
      CHECK(schedule(line).steps == 12); // positions 20 to 31
    }
  }
}

TEST_CASE("prompts that are in the arena cost no budget") {
  auto line = line_of(1000, {.token_budget = 100}, true);
  line.add(1, text_of(1, 90, 80));
  carry_out(line, coupled::schedule_prefill_first(line));
  line.add(2, text_of(1, 90, 80));
  line.add(3, text_of(1, 90, 80));
  auto batch = coupled::schedule_prefill_first(line);
  CHECK(batch.work == work_of({{2, 10}, {3, 10}}));
  CHECK(line.at(2).cached == 80);
}

TEST_CASE("one prompt that is to be scored at most is in a batch") {
  auto schedule = GENERATE(coupled::schedule_prefill_first, coupled::schedule_chunked);
  auto line = line_of(1000, {.token_budget = 100});
  for (std::uint64_t request : {1, 2}) {
    auto& one = line.add(request, text_of(1, 30));
    one.is_scored = true;
    one.share_max = 20;
  }
  for (const auto& expected :
       {work_of({{1, 20}}), work_of({{1, 10}}), work_of({{2, 20}})}) {
    auto batch = schedule(line);
    std::erase_if(batch.work,
                  [&](auto& part) { return line.at(part.request).decodes(); });
    CHECK(batch.work == expected);
    carry_out(line, batch);
  }
}

TEST_CASE("whatever comes and goes, budget, blocks and order are kept to the end") {
  auto schedule = GENERATE(coupled::schedule_prefill_first, coupled::schedule_chunked);
  bool keeps = GENERATE(false, true);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 roll{seed};
    auto line = line_of(
      24, {.token_budget = 64, .sequences_max = 6, .steps_max = 8, .watermark = 0.01},
      keeps);
    std::map<std::uint64_t, std::uint32_t> answered;
    std::uint64_t came = 0;
    std::size_t ended = 0;
    for (int turns = 0; (came < 40 || line.size() > 0) && turns < 20'000; ++turns) {
      if (came < 40 && roll() % 3 == 0) {
        auto shared = static_cast<std::uint32_t>(roll() % 5 * 16);
        line.add(++came,
                 text_of(1, 1 + shared + static_cast<std::uint32_t>(roll() % 70),
                         shared, 1 + static_cast<std::uint32_t>(roll() % 40)));
      }
      auto batch = schedule(line);
      REQUIRE_FALSE(batch.hopeless);
      std::uint32_t tokens = 0;
      for (const auto& part : batch.work) {
        auto& one = line.at(part.request);
        tokens += part.tokens;
        REQUIRE(part.tokens > 0);
        REQUIRE(line.tables().positions_of(one.table)
                >= one.computed + part.tokens + batch.steps - 1);
      }
      REQUIRE(tokens <= 64);
      REQUIRE(line.served().size() <= 6);
      carry_out(line, batch);
      for (const auto& part : batch.work)
        if (line.at(part.request).text.draws_left() == 0) {
          line.remove(part.request);
          ++ended;
        }
    }
    INFO("seed " << seed);
    CHECK(ended == 40);
    CHECK(line.tables().available() == 24);
  }
}

} // namespace
} // namespace perigee::test
