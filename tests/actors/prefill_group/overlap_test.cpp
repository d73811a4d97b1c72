#include "tests/actors/prefill_group/serving_bench.hpp"

// KV that the pool has is computed on while it comes, layer by layer. And when it does
// not come, nothing is lost but time.

namespace perigee::test {
namespace {

using schema::End;

/// A prompt whose first blocks are in the node's shard.
struct loading_bench : serving_bench {
  loading_bench(std::uint64_t seed, prefill::options options, std::uint32_t blocks)
    : serving_bench{seed, {.prefill = options}}, reused(blocks) {
    ask({.prompt = start(), .tokens_max = 2});
    bench.advance(10s);
  }

  tokens start() const {
    return prompt_of(reused * how.block_tokens, 1);
  }

  /// A question about it, of `length` tokens more.
  std::uint64_t ask_on(std::uint32_t length, std::uint32_t kind = 2) {
    auto prompt = start();
    for (auto token : prompt_of(length, kind))
      prompt.push_back(token);
    return ask({.prompt = prompt, .tokens_max = 4, .reuse = reused});
  }

  ns load() const {
    return ns{1us} * reused * model.layout.block_bytes(); // at 1 MB/s
  }

  static ns compute(std::uint32_t length) {
    return ns{1ms} + length * ns{100us};
  }

  ns first_token(std::uint64_t request) const {
    return heard.at(request).first_at - heard.at(request).asked_at;
  }

  /// It has its whole answer, and `cached` tokens that weren't computed.
  void check(std::uint64_t request, std::uint32_t cached) {
    INFO("request " << request);
    CHECK(heard[request].said == expected(request));
    CHECK(heard[request].end == End::LENGTH);
    CHECK(heard[request].cached == cached);
  }

  std::uint32_t reused;
};

constexpr prefill::options layer_wise{.chunk_tokens = 16};
constexpr prefill::options one_by_one{.chunk_tokens = 16, .layer_wise = false};

TEST_CASE(
  "who computes while loading takes the longer of both, and a layer of the other") {
  FOR_EVERY_SEED(seed);
  auto blocks = GENERATE(1u, 20u, 48u); // there is more to compute, or to load
  loading_bench overlapped{seed, layer_wise, blocks}, serial{seed, one_by_one, blocks};
  auto load = overlapped.load(), compute = loading_bench::compute(13);
  auto layers = overlapped.model.layout.layers;
  for (auto* all : {&overlapped, &serial}) {
    auto request = all->ask_on(13);
    all->bench.advance(10s);
    all->check(request, blocks * 4);
    if (all == &serial)
      CHECK(all->first_token(request) == load + compute);
    else
      CHECK(all->first_token(request)
            == std::max(load / layers + compute, load + compute / layers));
    all->check_conservation();
  }
  CHECK(overlapped.in_prefill("overlapped_total") == 1);
  CHECK(serial.in_prefill("overlapped_total") == 0);
}

TEST_CASE("who stores while computing has a layer left to store in the end, else all") {
  FOR_EVERY_SEED(seed);
  auto stored = [&](prefill::options how) {
    how.chunk_tokens = 64;
    serving_bench all{seed, {.prefill = how, .shard = pool::none}};
    auto request = all.ask({.prompt = prompt_of(8, 1), .tokens_max = 2});
    all.bench.advance(10s);
    CHECK(all.heard[request].said == all.expected(request));
    all.check_conservation();
    return all.heard[request].stages.at("transfer");
  };
  auto whole = stored(one_by_one), hidden = stored(layer_wise);
  CHECK(whole == 2 * 64us); // two blocks at 1 MB/s
  CHECK(hidden == 64us);    // one of two layers
}

TEST_CASE("what waits behind others is loaded meanwhile, and holds up none of them") {
  FOR_EVERY_SEED(seed);
  loading_bench all{seed, layer_wise, 2};
  auto other = all.ask({.prompt = prompt_of(16, 5), .tokens_max = 4});
  all.bench.settle(); // it is being computed
  auto request = all.ask_on(13);
  all.bench.advance(10s);
  REQUIRE(all.load() < loading_bench::compute(16));
  CHECK(all.first_token(other) == loading_bench::compute(16));
  CHECK(all.first_token(request)
        == loading_bench::compute(16) + loading_bench::compute(13));
  CHECK(all.in_prefill("overlapped_total") == 0);
  all.check(request, 8);
  all.check_conservation();
}

TEST_CASE("who is ready goes before who is loading") {
  FOR_EVERY_SEED(seed);
  loading_bench all{seed, layer_wise, 48};
  auto computing = loading_bench::compute(16);
  REQUIRE(all.load() > computing);
  all.ask({.prompt = prompt_of(16, 5), .tokens_max = 4});
  all.bench.settle(); // it is being computed
  auto request = all.ask_on(4);
  auto ready = all.ask({.prompt = prompt_of(16, 6), .tokens_max = 4});
  all.bench.advance(10s);
  CHECK(all.first_token(ready) == 2 * computing);
  CHECK(all.first_token(request) == 2 * computing + loading_bench::compute(4));
  all.check(request, 192);
  all.check(ready, 0);
  all.check_conservation();
}

TEST_CASE("who comes while a slow load goes on does not wait for it") {
  FOR_EVERY_SEED(seed);
  loading_bench all{seed, layer_wise, 48};
  auto first = all.ask_on(13);
  all.bench.advance(10s); // from which it is known how slow loads are
  auto request = all.ask_on(13, 3);
  all.bench.advance(all.load() / 8);
  auto late = all.ask({.prompt = prompt_of(2, 6), .tokens_max = 4});
  all.bench.advance(10s);
  auto layers = all.model.layout.layers;
  CHECK(all.first_token(late) == loading_bench::compute(2));
  CHECK(all.first_token(request) == all.first_token(first));
  CHECK(all.first_token(request) == all.load() + loading_bench::compute(13) / layers);
  CHECK(all.in_prefill("overlapped_total") == 2);
  for (auto one : {first, request})
    all.check(one, 192);
  all.check_conservation();
}

TEST_CASE("KV that does not come in time is computed, and does not count as cached") {
  FOR_EVERY_SEED(seed);
  auto how = layer_wise;
  how.move_limit = 2ms;
  loading_bench all{seed, how, 48};
  REQUIRE(all.load() > 2ms);
  auto request = all.ask_on(13);
  all.bench.advance(1ms);
  CHECK(all.in_prefill("overlapped_total") == 1);
  all.bench.advance(10s);
  all.check(request, 0);
  CHECK(all.in_prefill("started_over_total") == 1);
  CHECK(all.in_prefill("tokens_reused_total") == 0);
  CHECK(all.in_prefill("tokens_computed_total") == 192 + 205);
  all.check_conservation();
}

TEST_CASE("KV whose shard is lost while it comes is computed") {
  FOR_EVERY_SEED(seed);
  loading_bench all{seed, layer_wise, 20};
  auto request = all.ask_on(21);
  all.bench.advance(std::chrono::microseconds{seed * 97});
  all.respawn_shard();
  all.bench.advance(10s);
  auto started_over = all.in_prefill("started_over_total");
  all.check(request, started_over > 0 ? 0 : 80);
  all.check_conservation();
}

TEST_CASE("who moves KV may be lost while it comes") {
  FOR_EVERY_SEED(seed);
  loading_bench all{seed, layer_wise, 20};
  auto request = all.ask_on(21);
  all.bench.advance(97us * seed);
  bool was_loading = all.in_prefill("tokens_reused_total") == 0;
  all.respawn_transfer();
  all.bench.advance(10s);
  if (was_loading) // nothing had been sent on
    all.check(request, 0);
  else
    CHECK(all.heard[request].ends == 1);
  all.check_conservation();
}

TEST_CASE("a cancel or a deadline while KV comes frees everything") {
  FOR_EVERY_SEED(seed);
  bool is_cancelled = GENERATE(true, false);
  loading_bench all{seed, layer_wise, 20};
  auto prompt = all.start();
  prompt.push_back(5);
  auto request = all.ask(
    {.prompt = prompt,
     .remaining = is_cancelled ? ns{1h} : ns{97'000 * (1 + static_cast<ns::rep>(seed))},
     .reuse = 20});
  all.bench.advance(97us * seed);
  if (is_cancelled)
    all.cancel(request);
  all.bench.advance(10s);
  auto later = all.ask_on(7, 3);
  all.bench.advance(10s);
  all.check(later, 80);
  all.check_conservation();
}

} // namespace
} // namespace perigee::test
