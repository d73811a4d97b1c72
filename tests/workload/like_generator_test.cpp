#include "workload/like_generator.hpp"

#include "tests/workload/reading.hpp"
#include "workload/cut.hpp"
#include "workload/mooncake_writer.hpp"
#include "workload/statistics.hpp"

namespace perigee::workload {
namespace {

/// What the literature says of a trace, and what a generated one may miss it by.
struct published {
  const char* name;
  std::size_t requests;
  double seconds;
  double input_mean, output_mean, input_p50, input_p99, output_p50;
  double hits_by_blocks, hits_by_tokens, hits_per_request; ///< 0: not published.
  double blocks, blocks_once;
  double hottest;
};

// The FAST'25 traces; of tool&agent only what others noted of the released file.
const published all_published[] = {
  {"conversation", 12'031, 3'537, 12'035.1, 342.6, 6'909, 85'401, 350, 0.366, 0.374,
   0.409, 288'500, 0.758, 12'031},
  {"toolagent", 23'608, 3'537, 8'596, 182, 6'346, 61'525, 30, 0.553, 0, 0, 408'000,
   0.785, 10'938},
  {"synthetic", 3'993, 1'022, 15'325.5, 149.1, 11'587, 66'458, 69, 0.640, 0.651, 0.432,
   121'877, 0.584, 24},
};

trace_summary generated(const published& like, std::uint64_t seed) {
  like_generator source{*find_likeness(like.name), seed};
  statistics all;
  for (std::size_t i = 0; i < like.requests; ++i) {
    auto one = source.next();
    REQUIRE(one);
    REQUIRE(*one);
    all.add(**one);
  }
  return all.summary();
}

TEST_CASE("what is generated like a trace has its published statistics") {
  for (const auto& like : all_published)
    for (std::uint64_t seed : {1, 2, 3}) {
      INFO(like.name << ", seed " << seed);
      auto got = generated(like, seed);
      double seconds = std::chrono::duration<double>(got.duration).count();
      CHECK(seconds == Approx(like.seconds).epsilon(0.05));
      CHECK(got.input.mean == Approx(like.input_mean).epsilon(0.04));
      CHECK(got.output.mean == Approx(like.output_mean).epsilon(0.04));
      CHECK(static_cast<double>(got.input.p50) == Approx(like.input_p50).epsilon(0.2));
      // Of the synthetic trace's rows only 40 are longer: its P99 varies most.
      CHECK(static_cast<double>(got.input.p99) == Approx(like.input_p99).epsilon(0.2));
      CHECK(static_cast<double>(got.output.p50)
            == Approx(like.output_p50).epsilon(0.1));
      CHECK(static_cast<double>(got.blocks) == Approx(like.blocks).epsilon(0.04));
      CHECK(got.hits.by_blocks == Approx(like.hits_by_blocks).margin(0.03));
      if (like.hits_by_tokens > 0) {
        CHECK(got.hits.by_tokens == Approx(like.hits_by_tokens).margin(0.03));
        CHECK(got.hits.per_request == Approx(like.hits_per_request).margin(0.03));
      }
      double once = static_cast<double>(got.blocks_once)
                    / static_cast<double>(got.blocks_different);
      CHECK(once == Approx(like.blocks_once).margin(0.05));
      CHECK(static_cast<double>(got.hottest[0]) == Approx(like.hottest).epsilon(0.03));
    }
}

TEST_CASE("tool calls stand under the two prompts that are published") {
  auto got = generated(all_published[1], 4);
  CHECK(static_cast<double>(got.hottest[1]) == Approx(9'203).epsilon(0.04));
  double ten = 0;
  for (auto times : got.hottest)
    ten += static_cast<double>(times);
  CHECK(ten / static_cast<double>(got.blocks) == Approx(0.229).margin(0.01));
}

std::string text_of(const likeness& kind, std::uint64_t seed, std::size_t count) {
  like_generator source{kind, seed};
  cut_source part{source, {.first = count}};
  std::string text;
  for (const auto& one : read_all(part).requests)
    text += to_mooncake(one);
  return text;
}

TEST_CASE("one seed makes one trace, which reads without a complaint") {
  for (const auto& kind : likenesses()) {
    INFO(kind.name);
    auto text = text_of(kind, 7, 3'000);
    CHECK(text == text_of(kind, 7, 3'000));
    CHECK(text != text_of(kind, 8, 3'000));
    auto got = read_text(text);
    CHECK_FALSE(got.wrong);
    CHECK(got.requests.size() == 3'000);
  }
}

TEST_CASE("500 requests like conversation, seed 7, are these bytes") {
  // FNV-1a of the text: it must not depend on compiler, library or processor.
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (unsigned char byte : text_of(*find_likeness("conversation"), 7, 500))
    hash = (hash ^ byte) * 1'099'511'628'211U;
  CHECK(hash == 0xe2e1c31cbe24247aU);
}

TEST_CASE("arrivals are in order, on the ticks that a trace has") {
  for (const auto& kind : likenesses()) {
    like_generator source{kind, 5};
    std::chrono::nanoseconds before{0};
    for (int i = 0; i < 1'000; ++i) {
      auto one = source.next();
      CHECK((*one)->arrival >= before);
      before = (*one)->arrival;
      if (kind.tick.count() > 0)
        CHECK(before % kind.tick == std::chrono::nanoseconds{0});
    }
  }
}

TEST_CASE("another rate makes the same traffic denser") {
  like_generator source{*find_likeness("synthetic"), 5, 40.0};
  std::chrono::nanoseconds last{0};
  for (int i = 0; i < 4'000; ++i)
    last = (*source.next())->arrival;
  CHECK(std::chrono::duration<double>(last).count() == Approx(100).epsilon(0.05));
}

TEST_CASE("an id is always behind the same id") {
  for (const auto& kind : likenesses()) {
    like_generator source{kind, 6};
    std::map<std::uint64_t, std::uint64_t> before;
    for (int i = 0; i < 2'000; ++i) {
      auto one = source.next();
      std::uint64_t last = UINT64_MAX;
      for (auto id : (*one)->block_ids) {
        REQUIRE(before.emplace(id, last).first->second == last);
        last = id;
      }
    }
  }
}

} // namespace
} // namespace perigee::workload
