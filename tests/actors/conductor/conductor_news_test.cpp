#include "actors/conductor/conductor.hpp"
#include "tests/actors/conductor/cluster.hpp"
#include "tests/lab/seeds.hpp"

#include <random>
#include <set>

namespace perigee::conductor {
namespace {

// -- who holds what -----------------------------------------------------------

TEST_CASE("a prefix that is stored is reused, and where it lies") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.recount(1, 0, {});
  some.store(1, 1, chain_of(6));
  auto said = some.came_of({.request = 1, .chain = chain_of(10)});
  CHECK(said.getPlaced().getPrefill().getNode() == 1);
  CHECK(said.getPlaced().getReuseBlocks() == 6);
  auto work = *some.groups.at(1).of<schema::Prefill>().front();
  CHECK(work.getReuseBlocks() == 6);
  CHECK(work.getSource().getNode() == 1);
  CHECK(work.getPredictedNs() == 65'000'000);
  some.evict(1, 2, {chain_of(6).back()});
  CHECK(some.came_of({.request = 2, .chain = chain_of(10)}).getPlaced().getReuseBlocks()
        == 5);
}

TEST_CASE("when its holder is busy, a hot prefix is fetched elsewhere") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.recount(1, 1, chain_of(50));
  some.bench.settle();
  some.report_group(1, 3, 5000, {});
  auto said = some.came_of({.request = 1, .chain = chain_of(50)});
  CHECK(said.getPlaced().getPrefill().getNode() == 0);
  auto work = *some.groups.at(0).of<schema::Prefill>().front();
  CHECK(work.getReuseBlocks() == 50);
  CHECK(work.getSource().getNode() == 1);
  CHECK(some.count("blocks_fetched_total") == 50);
}

TEST_CASE("a shard is asked what it holds when it comes, and after a gap") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  CHECK(some.recounts_asked(1) == 1);
  some.recount(1, 4, chain_of(2), 0, false);
  some.recount(1, 4, chain_of(4), 1, true);
  CHECK(some.came_of({.request = 1, .chain = chain_of(9)}).getPlaced().getReuseBlocks()
        == 4);
  some.store(1, 6, chain_of(6)); // the fifth is missing
  some.bench.settle();
  CHECK(some.recounts_asked(1) == 2);
  // Until the shard answers, what was known stays a hint.
  CHECK(some.came_of({.request = 2, .chain = chain_of(9)}).getPlaced().getReuseBlocks()
        == 4);
  some.recount(1, 6, chain_of(1));
  CHECK(some.came_of({.request = 3, .chain = chain_of(9)}).getPlaced().getReuseBlocks()
        == 1);
  CHECK(some.recounts_asked(1) == 2);
}

TEST_CASE("what a lost shard held is not reused") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.recount(1, 1, chain_of(5));
  some.introduce(Role::SHARD, 1, false);
  some.store(1, 2, chain_of(5)); // too late
  CHECK(some.came_of({.request = 1, .chain = chain_of(9)}).getPlaced().getReuseBlocks()
        == 0);
  some.introduce(Role::SHARD, 1, true);
  some.bench.settle();
  CHECK(some.recounts_asked(1) == 2);
  some.recount(1, 0, {});
  some.store(1, 1, chain_of(3));
  CHECK(some.came_of({.request = 2, .chain = chain_of(9)}).getPlaced().getReuseBlocks()
        == 3);
}

TEST_CASE("a conductor that was restarted asks, and knows again") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.recount(1, 7, chain_of(5));
  some.place({.request = 1, .chain = chain_of(9)});
  some.bench.settle();
  some.restart();
  CHECK(some.recounts_asked(1) == 2);
  some.recount(1, 7, chain_of(5));
  some.report_instance(1, 1, {1}, {}); // of a request that the earlier one placed
  auto said = some.came_of({.request = 2, .chain = chain_of(9)});
  CHECK(said.getPlaced().getReuseBlocks() == 5);
  CHECK(said.getPlaced().getDecode().getNode() == 0); // the other is known to be busy
}

TEST_CASE("a recount that is lost is asked for again, though the shard has no news") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.recount(0, 0, {});
  some.bench.advance(6s); // what was asked of the other is lost
  CHECK(some.recounts_asked(0) == 1);
  CHECK(some.recounts_asked(1) == 2);
  some.recount(1, 4, chain_of(2), 0, false); // its second part is lost
  some.bench.advance(6s);
  CHECK(some.recounts_asked(1) == 3);
  some.recount(1, 4, chain_of(4));
  some.bench.advance(24h);
  CHECK(some.recounts_asked(1) == 3);
  CHECK(some.count("recounts_total") == 4);
  CHECK(some.came_of({.request = 1, .chain = chain_of(9)}).getPlaced().getReuseBlocks()
        == 4);
}

TEST_CASE("a shard that never answers is asked six times, and then left alone") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.introduce(Role::SHARD, 0, false); // nobody asks it any more
  some.bench.advance(24h);
  CHECK(some.recounts_asked(0) == 1);
  CHECK(some.recounts_asked(1) == 6);
}

// -- the book -----------------------------------------------------------------

TEST_CASE(
  "the rejector has a copy of the book, at most every 100 ms, never while idle") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.bench.advance(1s);
  auto before = some.books();
  for (std::uint64_t i = 1; i <= 100; ++i) { // a second's worth
    some.place({.request = i, .chain = chain_of(1, i)});
    some.bench.advance(10ms);
  }
  some.bench.advance(1s);
  auto books = some.books() - before;
  CHECK(books >= 10);
  CHECK(books <= 12);
  auto copy = *some.rejector.of<schema::Book>().back();
  CHECK(copy.getPrefills().size() == 2);
  CHECK(copy.getPrefills()[0].getWaiting() + copy.getPrefills()[1].getWaiting() == 100);
  CHECK(copy.getDecodes()[0].getComing().size()
          + copy.getDecodes()[1].getComing().size()
        == 100);
  some.bench.advance(300s); // all expire
  before = some.books();
  auto sent = some.bench.record().sent_total;
  some.bench.advance(24h);
  CHECK(some.books() == before);
  CHECK(some.bench.record().sent_total == sent);
}

TEST_CASE("a rejector that is new gets a copy at once") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.bench.advance(1s);
  auto before = some.books();
  some.introduce(Role::REJECTOR, 0);
  some.bench.settle();
  CHECK(some.books() == before + 1);
}

// -- whatever happens ---------------------------------------------------------

/// Places, cancels, losses, reports and news, as `seed` says.
void live_through(cluster& some, std::uint64_t seed, int happenings) {
  std::mt19937_64 random{seed};
  std::uint64_t requests = 0, numbers[2] = {};
  for (int i = 0; i < happenings; ++i) {
    auto node = static_cast<std::uint32_t>(random() % 2);
    std::uint64_t some_request = requests > 0 ? 1 + random() % requests : 99;
    switch (random() % 12) {
      case 0: some.cancel(some_request); break;
      case 1: some.introduce(Role::PREFILL, node, random() % 4 > 0); break;
      case 2: some.introduce(Role::DECODE, node, random() % 4 > 0); break;
      case 3: some.introduce(Role::SHARD, node, random() % 4 > 0); break;
      case 4:
        some.report_group(node, random() % 5, random() % 9000, {some_request});
        break;
      case 5: some.report_instance(node, random() % 9, {some_request}, {}); break;
      case 6: some.report_instance(node, random() % 9, {}, {some_request}); break;
      case 7: some.recount(node, numbers[node], chain_of(random() % 20)); break;
      case 8: some.store(node, ++numbers[node], chain_of(random() % 20)); break;
      case 9:
        numbers[node] += random() % 2; // now and then one is lost
        some.evict(node, ++numbers[node], chain_of(random() % 3));
        break;
      default: some.place({.request = ++requests, .chain = chain_of(random() % 20)});
    }
    if (random() % 3 == 0)
      some.bench.advance(std::chrono::milliseconds{random() % 300});
  }
  some.bench.settle();
}

TEST_CASE(
  "whatever happens, every request has one answer, and none is counted for ever") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  live_through(some, seed, 300);
  std::set<std::uint64_t> answered;
  std::size_t placed = 0;
  for (const auto& one : some.said()) {
    CHECK(answered.insert(one->getRequest()).second);
    placed += one->isPlaced();
  }
  std::uint64_t last = answered.empty() ? 0 : *answered.rbegin();
  CHECK(answered.size() == last); // they count from 1
  auto told = some.groups.at(0).of<schema::Prefill>().size()
              + some.groups.at(1).of<schema::Prefill>().size();
  CHECK(told == placed);
  some.bench.advance(66s);
  CHECK(some.count("requests") == 0);
}

TEST_CASE("one seed, one course of events") {
  auto digest = [](std::uint64_t seed) {
    cluster some{seed};
    live_through(some, 7, 200);
    return some.bench.record().value();
  };
  CHECK(digest(3) == digest(3));
  CHECK(digest(3) != digest(4));
}

} // namespace
} // namespace perigee::conductor
