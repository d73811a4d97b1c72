#include "workload/session_generator.hpp"

#include "tests/workload/reading.hpp"
#include "workload/cut.hpp"
#include "workload/mooncake_writer.hpp"
#include "workload/statistics.hpp"

#include <cmath>
#include <set>

namespace perigee::workload {
namespace {

std::vector<request> made(const session_law& law, std::uint64_t seed,
                          std::size_t count) {
  session_generator source{law, seed};
  cut_source part{source, {.first = count}};
  auto got = read_all(part);
  REQUIRE_FALSE(got.wrong);
  return got.requests;
}

/// Of the gaps between arrivals: standard deviation by mean.
double variation(const std::vector<request>& all) {
  double sum = 0, square = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    double gap
      = std::chrono::duration<double>(all[i].arrival - all[i - 1].arrival).count();
    sum += gap;
    square += gap * gap;
  }
  auto count = static_cast<double>(all.size() - 1);
  double mean = sum / count;
  return std::sqrt(square / count - mean * mean) / mean;
}

TEST_CASE("arrivals have the rate and the burstiness that are asked for") {
  for (double shape : {0.25, 1.0, 4.0}) {
    session_law law;
    law.rate = 5;
    law.burstiness = shape;
    auto all = made(law, 1, 30'000);
    CHECK(std::chrono::duration<double>(all.back().arrival).count()
          == Approx(6'000).epsilon(0.04));
    CHECK(variation(all) == Approx(1 / std::sqrt(shape)).epsilon(0.04));
  }
}

TEST_CASE("lengths have the mean and the median that are asked for") {
  session_law law;
  law.input = {3'000, 1'000};
  law.output = {80, 80};
  law.input_max = tokens_max;
  statistics all;
  for (const auto& one : made(law, 2, 50'000))
    all.add(one);
  auto got = all.summary();
  CHECK(got.input.mean == Approx(3'000).epsilon(0.04));
  CHECK(static_cast<double>(got.input.p50) == Approx(1'000).epsilon(0.03));
  CHECK(got.output.least == 80);
  CHECK(got.output.most == 80);
  CHECK(got.hits.by_blocks == 0); // nobody shares anything
}

TEST_CASE("a turn repeats all that its session said before") {
  session_law law;
  law.turns_mean = 5;
  law.rate = 2;
  std::map<std::uint64_t, request> last;
  std::size_t later_turns = 0;
  double thought = 0; // seconds
  for (const auto& one : made(law, 3, 20'000)) {
    REQUIRE(one.session);
    auto before = last.find(*one.session);
    CHECK(one.think.has_value() == (before != last.end()));
    if (before != last.end()) {
      ++later_turns;
      const auto& old = before->second;
      REQUIRE(one.arrival - old.arrival == one.think);
      thought += std::chrono::duration<double>(*one.think).count();
      REQUIRE(one.input_tokens >= std::min<std::uint64_t>(
                old.input_tokens + old.output_tokens, law.input_max));
      auto whole = old.input_tokens / block_tokens;
      for (std::size_t i = 0; i < whole; ++i)
        REQUIRE(one.block_ids[i] == old.block_ids[i]);
      if (old.input_tokens % block_tokens > 0 && one.block_ids.size() > whole)
        REQUIRE(one.block_ids[whole] != old.block_ids[whole]);
    }
    last[*one.session] = one;
  }
  CHECK(thought / static_cast<double>(later_turns)
        == Approx(law.think_mean.count()).epsilon(0.03));
  // Long sessions end early at the longest input, so a little fewer than 4 of 5.
  CHECK(static_cast<double>(later_turns) / 20'000 == Approx(0.8).margin(0.03));
}

TEST_CASE("a tree's prompts are shared by those below them") {
  session_law law;
  law.tree = {{1'024, 1}, {512, 3}, {300, 2}};
  std::map<std::size_t, std::set<std::uint64_t>> at;
  for (const auto& one : made(law, 4, 2'000)) {
    CHECK(one.input_tokens > 1'836);
    for (std::size_t depth = 0; depth < 4; ++depth)
      at[depth].insert(one.block_ids[depth]);
  }
  CHECK(at[0].size() == 1);
  CHECK(at[1].size() == 1);
  CHECK(at[2].size() == 3);
  CHECK(at[3].size() == 2'000); // 300 tokens are no block
}

TEST_CASE("one seed makes one course of sessions, which reads without a complaint") {
  session_law law;
  law.turns_mean = 3;
  law.burstiness = 0.3;
  law.tree = {{2'048, 1}, {1'024, 8}};
  auto text = [&](std::uint64_t seed) {
    std::string all;
    for (const auto& one : made(law, seed, 2'000))
      all += to_mooncake(one);
    return all;
  };
  CHECK(text(1) == text(1));
  CHECK(text(1) != text(2));
  auto got = read_text(text(1));
  CHECK_FALSE(got.wrong);
  CHECK(got.requests == made(law, 1, 2'000));
}

TEST_CASE("a law that can't be is refused in words") {
  auto fault = [](auto change) {
    session_law law;
    change(law);
    return fault_of(law).value_or("");
  };
  CHECK(fault([](auto&) {}) == "");
  CHECK(fault([](auto& law) { law.rate = 0; })
        == "the rate is expected from 0.0001 to 100000");
  CHECK(fault([](auto& law) { law.rate = std::nan(""); }) != "");
  CHECK(fault([](auto& law) { law.burstiness = 0; }) != "");
  CHECK(fault([](auto& law) { law.turns_mean = 0.5; }) != "");
  CHECK(fault([](auto& law) {
          law.input = {100, 200};
        })
        == "the mean input is expected from its median to 100 times that");
  CHECK(fault([](auto& law) { law.output.median = 0; }) != "");
  CHECK(fault([](auto& law) { law.input_max = 0; }) != "");
  CHECK(fault([](auto& law) {
          law.tree = {{10, 1'000}, {10, 1'000}};
        })
        == "the tree is expected to have at most 100000 nodes");
  CHECK(fault([](auto& law) { law.tree = {{200'000, 1}}; }) != "");
  CHECK(fault([](auto& law) { law.tree = {{0, 1}}; }) != "");
}

} // namespace
} // namespace perigee::workload
