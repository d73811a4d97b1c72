#include "actors/prefill_group/job_book.hpp"

#include <catch2/catch.hpp>

namespace perigee::prefill {
namespace {

constexpr std::uint32_t block_tokens = 4;

Msg<schema::Prefill> plan_of(std::uint32_t tokens, std::uint32_t reuse_blocks) {
  return Msg<schema::Prefill>::build([=](schema::Prefill::Builder plan) {
    plan.setPromptTokens(tokens);
    plan.setReuseBlocks(reuse_blocks);
  });
}

TEST_CASE("a group's book has room for so many, and knows those who are in it") {
  job_book book{2, block_tokens};
  auto* first = book.open(5);
  REQUIRE(first);
  CHECK(first->request == 5);
  CHECK(first->now == stage::joining);
  CHECK(book.open(5) == first);
  CHECK(book.open(6));
  CHECK_FALSE(book.open(7));
  CHECK(book.size() == 2);
  book.close(5);
  CHECK_FALSE(book.find(5));
  CHECK(book.open(7));
}

TEST_CASE("those count as load whose plan is here, until all is computed") {
  job_book book{8, block_tokens};
  book.open(1); // a part of its prompt is here, and no plan
  book.open(2)->plan = plan_of(30, 0);
  book.open(3)->plan = plan_of(30, 2); // the pool has 8 tokens of it, so it is hoped
  book.at(3).now = stage::waiting;
  book.open(4)->plan = plan_of(30, 2); // and had 4
  book.at(4).now = stage::computing;
  book.at(4).computed = 4;
  book.open(5)->plan = plan_of(30, 0);
  book.at(5).now = stage::computing;
  book.at(5).computed = 20;
  book.at(5).times.compute_began = moment{1};
  book.open(6)->plan = plan_of(30, 0);
  book.at(6).now = stage::handing_off;
  book.at(6).times.compute_began = moment{1};
  auto all = book.sum();
  CHECK(all.waiting == 3);
  CHECK(all.running == 1);
  CHECK(all.tokens_ahead == 30 + 22 + 26 + 10);
}

} // namespace
} // namespace perigee::prefill
