#include "tests/actors/prefill_group/serving_bench.hpp"

// Whoever is lost, and whenever: all that depended on it ends, all else goes on, and
// every block is free in the end.

namespace perigee::test {
namespace {

using schema::End;

constexpr std::uint64_t crowd_size = 5;

/// A small crowd, in the midst of which somebody is lost.
struct crowd : serving_bench {
  explicit crowd(std::uint64_t seed, bench_shape shape = {.decode_blocks = 40})
    : serving_bench{seed, shape} {
    ask({.prompt = prompt_of(30, 0), .tokens_max = 3});
    bench.advance(1s);
    for (std::uint32_t i = 1; i < crowd_size; ++i)
      ask({.prompt = prompt_of(29 + i, i % 3),
           .tokens_max = 18,
           .reuse = i % 3 == 0 ? 7u : 0u});
    bench.advance(std::chrono::microseconds{seed * 431});
  }

  /// Each has one end, and whoever came to the end of its answer got all of it.
  void check_ends(std::set<End> allowed) {
    bench.advance(60s);
    for (std::uint64_t request = 1; request <= crowd_size; ++request) {
      INFO("request " << request);
      const auto& got = heard[request];
      CHECK(got.ends == 1);
      CHECK(allowed.contains(got.end));
      auto all = expected(request);
      REQUIRE(got.said.size() <= all.size());
      CHECK(std::equal(got.said.begin(), got.said.end(), all.begin()));
      if (got.end == End::LENGTH)
        CHECK(got.said.size() == all.size());
    }
  }

  void check_alive() {
    auto later = ask({.prompt = prompt_of(33, 77), .tokens_max = 9});
    bench.advance(10s);
    CHECK(heard[later].said == expected(later));
    check_conservation();
  }
};

TEST_CASE("a lost decode instance takes what it had with it, and no more") {
  FOR_EVERY_SEED(seed);
  crowd all{seed};
  std::set<std::uint64_t> accepted;
  for (const auto& [request, got] : all.heard)
    if (!got.said.empty())
      accepted.insert(request);
  all.respawn_decode();
  all.bench.advance(60s);
  for (std::uint64_t request = 2; request <= crowd_size; ++request) {
    const auto& got = all.heard[request];
    if (accepted.contains(request) || got.ends == 0)
      all.cancel(request); // as a gateway does, who hears of the loss, too
    else
      CHECK(got.end == End::ACTOR_LOST);
  }
  all.bench.advance(1s);
  all.check_alive();
}

TEST_CASE("a lost prefill group takes what it had not handed over with it") {
  FOR_EVERY_SEED(seed);
  crowd all{seed};
  all.respawn_prefill();
  all.bench.advance(60s);
  for (std::uint64_t request = 2; request <= crowd_size; ++request) {
    const auto& got = all.heard[request];
    if (got.ends == 0)
      all.cancel(request);
    else
      CHECK((got.end == End::ACTOR_LOST || got.end == End::LENGTH));
  }
  all.bench.advance(1s);
  all.check_alive();
}

TEST_CASE("a lost transfer actor fails what it was moving") {
  FOR_EVERY_SEED(seed);
  crowd all{seed};
  all.respawn_transfer();
  all.check_ends({End::LENGTH, End::TRANSFER_FAILED});
  all.check_alive();
}

TEST_CASE("a successor that was asked before it was introduced is not asked again") {
  FOR_EVERY_SEED(seed);
  crowd all{seed};
  all.respawn_transfer();
  all.ask({.prompt = prompt_of(30, 40), .tokens_max = 3});
  all.bench.advance(5ms); // it has its seat, and the news of that is late
  all.bench.tell<schema::Member>(all.group, [](schema::Member::Builder said) {
    said.setRole(schema::Role::TRANSFER);
    said.initWho();
    said.setUp(true);
    said.setLife(1);
    said.setIncarnation(2);
  });
  all.check_ends({End::LENGTH, End::TRANSFER_FAILED});
  all.check_alive();
}

TEST_CASE("a lost shard costs time alone, while nothing is parked there") {
  FOR_EVERY_SEED(seed);
  crowd all{seed, {}};
  all.respawn_shard();
  all.check_ends({End::LENGTH});
  all.check_alive();
}

TEST_CASE("what was parked in a lost shard is lost") {
  FOR_EVERY_SEED(seed);
  crowd all{seed, {.decode_blocks = 20}};
  all.respawn_shard();
  all.check_ends({End::LENGTH, End::ACTOR_LOST});
  all.check_alive();
}

TEST_CASE("what a lost gateway wanted is dropped") {
  FOR_EVERY_SEED(seed);
  crowd all{seed};
  auto news = [](schema::Member::Builder said) {
    said.setRole(schema::Role::GATEWAY);
    said.initWho();
  };
  all.bench.tell<schema::Member>(all.group, news);
  all.bench.tell<schema::Member>(all.instance, news);
  all.bench.advance(1s);
  CHECK(all.in_prefill("requests") == 0);
  CHECK(all.in_decode("requests") == 0);
  for (std::uint64_t request = 1; request <= crowd_size; ++request)
    all.heard[request].ends = 1; // nobody hears of them
  all.check_alive();
}

TEST_CASE("a conductor that comes back is told how things stand") {
  FOR_EVERY_SEED(seed);
  crowd all{seed};
  auto before = all.reported.decode_at.size();
  auto news = [](schema::Member::Builder said) {
    said.setRole(schema::Role::CONDUCTOR);
    said.initWho();
    said.setUp(true);
  };
  all.bench.tell<schema::Member>(all.group, news);
  all.bench.tell<schema::Member>(all.instance, news);
  all.bench.settle();
  CHECK(all.reported.decode_at.size() > before);
  all.check_ends({End::LENGTH});
  all.check_conservation();
}

TEST_CASE("a plan that contradicts itself ends, and disturbs nobody") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  auto good = all.ask({.prompt = prompt_of(30, 1)});
  all.wishes[90] = {.prompt = prompt_of(16, 2), .reuse = 4}; // nothing left to compute
  all.tell_prefill(90, all.wishes[90]);
  all.tell_prompt(90, all.wishes[90]);
  all.wishes[91] = {.prompt = prompt_of(30, 3)};
  all.tell_prefill(91, all.wishes[91]);
  all.tell_prompt(91, {.prompt = prompt_of(29, 3)}); // another length
  all.bench.advance(10s);
  CHECK(all.heard[90].end == End::ENGINE_FAILED);
  CHECK(all.heard[91].end == End::ENGINE_FAILED);
  CHECK(all.heard[good].said == all.expected(good));
  all.check_conservation();
}

TEST_CASE("a hand-over that leaves nothing to be answered is not taken") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  REQUIRE(all.bench.roster().vacate(prefill_name{}, {1, 1})); // the test has that name
  all.bench.roster().seat(prefill_name{}, {all.group, {1, 2}, all.bench.tag()});
  all.bench.tell<schema::Room>(all.instance, [](schema::Room::Builder wish) {
    wish.setRequest(5);
    wish.setPromptTokens(9);
    wish.setRemainingNs(1'000'000'000);
  });
  all.bench.settle();
  CHECK(all.in_decode("blocks_used") == 3);
  for (std::uint32_t tokens_max : {0, 1, 8})
    all.bench.tell<schema::Handoff>(all.instance, [=](schema::Handoff::Builder news) {
      news.setRequest(5);
      news.setPromptTokens(9);
      news.setTokensMax(tokens_max); // of 8, the token of the last block is missing
    });
  all.bench.settle();
  CHECK(all.in_decode("accepted_total") == 0);
  all.bench.tell<schema::Landed>(all.instance, [](auto news) { news.setRequest(5); });
  all.bench.settle();
  CHECK(all.in_decode("requests") == 0);
  CHECK(all.in_decode("blocks_used") == 0);
}

TEST_CASE("a prompt whose parts have a hole is worth nothing") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  wish what{.prompt = prompt_of(30, 3)};
  all.tell_prefill(7, what);
  all.bench.tell<schema::Prompt>(all.group, [](schema::Prompt::Builder part) {
    part.setRequest(7);
    part.setFirstToken(4);
    part.initTokens(4);
  });
  all.bench.advance(10s);
  CHECK(all.heard[7].end == End::ENGINE_FAILED);
  all.check_conservation();
}

TEST_CASE("a token that the model has not fails its own request") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  auto prompt = prompt_of(30, 1);
  prompt[11] = 1u << 30;
  auto bad = all.ask({.prompt = prompt});
  all.bench.advance(10s);
  auto good = all.ask({.prompt = prompt_of(30, 1)});
  all.bench.advance(10s);
  CHECK(all.heard[bad].end == End::ENGINE_FAILED);
  CHECK(all.heard[good].said == all.expected(good));
  all.check_conservation();
}

TEST_CASE("a prompt whose plan never comes is forgotten") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  all.tell_prompt(9, {.prompt = prompt_of(30, 3)});
  all.bench.advance(9s);
  CHECK(all.in_prefill("requests") == 1);
  all.bench.advance(2s);
  CHECK(all.in_prefill("requests") == 0);
  all.check_conservation();
}

TEST_CASE("what speaks in the name of another is not believed") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  rt::world elsewhere = all.bench.world();
  elsewhere.node = "elsewhere";
  rt::doorway stranger{elsewhere, "stranger"};
  stranger.tell<schema::Prefill>(all.group, rt::unprompted, [](auto plan) {
    plan.setRequest(5);
    plan.setPromptTokens(3);
    plan.setTokensMax(3);
  });
  stranger.tell<schema::Cancel>(all.group, rt::unprompted,
                                [](auto wish) { wish.setRequest(1); });
  stranger.tell<schema::Cancel>(all.instance, rt::unprompted,
                                [](auto wish) { wish.setRequest(1); });
  stranger.tell<schema::Member>(all.instance, rt::unprompted, [](auto news) {
    news.setRole(schema::Role::GATEWAY);
    news.initWho();
  });
  auto request = all.ask({.prompt = prompt_of(30, 1)});
  stranger.tell<schema::Prompt>(all.group, rt::unprompted, [&](auto part) {
    part.setRequest(request);
    part.initTokens(3);
  });
  all.bench.advance(10s);
  CHECK(all.heard[request].said == all.expected(request));
  CHECK_FALSE(all.heard.contains(5));
  CHECK(all.in_prefill("stale_total") >= 2);
  CHECK(all.in_decode("stale_total") >= 2);
  all.check_conservation();
}

} // namespace
} // namespace perigee::test
