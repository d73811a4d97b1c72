#include "actors/conductor/conductor.hpp"

#include "tests/actors/conductor/doubles.hpp"
#include "tests/lab/lab.hpp"
#include "tests/lab/seeds.hpp"

#include <map>
#include <random>
#include <set>

namespace perigee::conductor {
namespace {

using namespace std::chrono_literals;
using lab = test::lab<caf::id_block::perigee>;
using schema::Role;
using test::asked;
using test::chain_of;
using reason_told = schema::Refusal::Reason;

/// A token takes a millisecond to compute, and a decode step 10 ms.
options simple() {
  options how;
  how.cost = {.prefill = {0, 1e6, 0},
              .decode = {10e6, 1e6, 0},
              .link = {0, 1e9},
              .disk = {0, 1e8},
              .kv_token_bytes = 1000};
  how.ttft_limit = 10s;
  how.tbt_limit = 100ms;
  return how;
}

/// Two nodes with all there is, a gateway, and a conductor; the test speaks for all.
struct cluster {
  explicit cluster(std::uint64_t seed, options how = simple())
    : bench(seed), counts(std::make_shared<probe>()), how_(how) {
    seat(gateway_name{}, bench.spawn<test::listening_gateway>(&gateway));
    seat(rejector_name{}, bench.spawn<test::listening_rejector>(&rejector));
    for (std::uint32_t node : {0, 1}) {
      seat(group(node), bench.spawn<test::listening_group>(&groups[node]));
      seat(instance(node), bench.spawn<test::listening_instance>(&instances[node]));
      seat(shard(node), bench.spawn<test::listening_shard>(&shards[node]));
    }
    begin({});
  }

  static prefill_name group(std::uint32_t node) {
    return {node_index{node}, 0};
  }
  static decode_name instance(std::uint32_t node) {
    return {node_index{node}, 0};
  }
  static shard_name shard(std::uint32_t node) {
    return {node_index{node}, 0};
  }

  /// Starts a conductor, and tells it who is there.
  void begin(rt::place where) {
    conductor = bench.adopt(start(bench.world(), where, how_, counts));
    for (std::uint32_t node : {0, 1})
      for (auto role : {Role::PREFILL, Role::DECODE, Role::SHARD})
        introduce(role, node);
    bench.settle();
  }

  void restart() {
    rt::kill(conductor);
    bench.settle();
    begin({.incarnation = 2});
  }

  template <class Handle>
  void seat(const rt::name<Handle>& where, const Handle& who,
            std::uint32_t incarnation = 1) {
    bench.roster().seat(where, {who, {1, incarnation}, bench.tag()});
  }

  /// Nobody is there any more, and nobody said so.
  template <class Handle>
  void vanish(const rt::name<Handle>& where) {
    REQUIRE(bench.roster().vacate(where, {1, 1}));
  }

  void introduce(Role role, std::uint32_t node, bool up = true) {
    bench.tell<schema::Member>(conductor, test::member(role, node, up));
  }

  // -- what happens -----------------------------------------------------------

  void place(const asked& wish) {
    bench.tell<schema::Place>(conductor, [&](schema::Place::Builder place) {
      wish.write(place.initWish());
      place.setAdmissionNs(7);
    });
  }

  /// Places, and returns what came of it.
  schema::Placed::Reader came_of(const asked& wish) {
    place(wish);
    bench.settle();
    return *said().back();
  }

  void cancel(std::uint64_t request) {
    bench.tell<schema::Cancel>(conductor, test::cancelling(request));
  }

  void report_group(std::uint32_t node, std::uint32_t running, std::uint64_t tokens,
                    const std::vector<std::uint64_t>& ended) {
    bench.tell<schema::PrefillLoad>(conductor, [&](schema::PrefillLoad::Builder load) {
      load.initWho().setNode(node);
      load.setRunning(running);
      load.setQueuedTokens(tokens);
      auto list = load.initEnded(static_cast<unsigned>(ended.size()));
      for (unsigned i = 0; i < list.size(); ++i)
        list.set(i, ended[i]);
    });
  }

  void report_instance(std::uint32_t node, std::uint32_t sequences,
                       const std::vector<std::uint64_t>& began,
                       const std::vector<std::uint64_t>& ended) {
    bench.tell<schema::DecodeLoad>(conductor, [&](schema::DecodeLoad::Builder load) {
      load.initWho().setNode(node);
      load.setSequences(sequences);
      load.setBlocksFree(10'000);
      auto list = load.initBegan(static_cast<unsigned>(began.size()));
      for (unsigned i = 0; i < list.size(); ++i)
        list.set(i, began[i]);
      auto ends = load.initEnded(static_cast<unsigned>(ended.size()));
      for (unsigned i = 0; i < ends.size(); ++i) {
        ends[i].setRequest(ended[i]);
        ends[i].setDecodedNs(1'000'000'000);
      }
    });
  }

  void store(std::uint32_t node, std::uint64_t number, const block_chain& keys) {
    bench.tell<schema::Stored>(conductor, [&](schema::Stored::Builder news) {
      news.initShard().setNode(node);
      news.setNumber(number);
      test::keys_into(keys)(news);
    });
  }

  void evict(std::uint32_t node, std::uint64_t number, const block_chain& keys) {
    bench.tell<schema::Evicted>(conductor, [&](schema::Evicted::Builder news) {
      news.initShard().setNode(node);
      news.setNumber(number);
      test::keys_into(keys)(news);
    });
  }

  void recount(std::uint32_t node, std::uint64_t number, const block_chain& keys,
               std::uint32_t part = 0, bool last = true) {
    bench.tell<schema::Snapshot>(conductor, [&](schema::Snapshot::Builder news) {
      news.initShard().setNode(node);
      news.setNumber(number);
      news.setPart(part);
      news.setLast(last);
      test::keys_into(keys)(news);
    });
  }

  // -- what came of it --------------------------------------------------------

  const std::vector<Msg<schema::Placed>>& said() const {
    return gateway.of<schema::Placed>();
  }

  std::size_t recounts_asked(std::uint32_t node) const {
    return shards.at(node).of<schema::Recount>().size();
  }

  std::size_t books() const {
    return rejector.of<schema::Book>().size();
  }

  std::uint64_t count(const std::string& wanted) const {
    std::map<std::string, std::uint64_t> seen;
    counts->each([&](auto name, auto, auto value) { seen[name] = value; });
    return seen.at(wanted);
  }

  test::listening_gateway::notes gateway;
  test::listening_rejector::notes rejector;
  std::map<std::uint32_t, test::listening_group::notes> groups{{0, {}}, {1, {}}};
  std::map<std::uint32_t, test::listening_instance::notes> instances{{0, {}}, {1, {}}};
  std::map<std::uint32_t, test::listening_shard::notes> shards{{0, {}}, {1, {}}};
  lab bench;
  std::shared_ptr<probe> counts;
  conductor_actor conductor;

private:
  options how_;
};

// -- placing ------------------------------------------------------------------

TEST_CASE("a placed request is known to its group, its instance and its gateway") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  auto chain = chain_of(10);
  auto said = some.came_of({.request = 5, .chain = chain, .tokens_max = 40});
  REQUIRE(said.isPlaced());
  CHECK(said.getRequest() == 5);
  auto node = said.getPlaced().getPrefill().getNode();
  CHECK(said.getPlaced().getTtftNs() == 161'000'000);
  CHECK(said.getPlaced().getTbtNs() == 11'000'000);

  REQUIRE(some.groups.at(node).of<schema::Prefill>().size() == 1);
  auto work = *some.groups.at(node).of<schema::Prefill>().front();
  CHECK(work.getRequest() == 5);
  CHECK(work.getPromptTokens() == 161);
  CHECK(work.getTokensMax() == 40);
  CHECK(to_chain(work.getChain()) == chain);
  CHECK(work.getReuseBlocks() == 0);
  CHECK(work.getRemainingNs() == 60'000'000'000);
  CHECK(work.getStages().getAdmissionNs() == 7);
  CHECK(work.getPredictedNs() == 161'000'000);

  auto decodes_at = said.getPlaced().getDecode().getNode();
  CHECK(work.getDecode().getNode() == decodes_at);
  REQUIRE(some.instances.at(decodes_at).of<schema::Expect>().size() == 1);
  auto news = *some.instances.at(decodes_at).of<schema::Expect>().front();
  CHECK(news.getRequest() == 5);
  CHECK(news.getPromptTokens() == 161);
  CHECK(news.getInNs() == 161'000'000);
  CHECK(news.getPrefill().getNode() == node);
}

TEST_CASE("a request for one token is expected by no instance") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  auto said = some.came_of({.chain = chain_of(3), .tokens_max = 1});
  CHECK(said.isPlaced());
  for (auto node : {0, 1})
    CHECK(some.instances.at(node).of<schema::Expect>().empty());
}

TEST_CASE("requests that come together are counted one by one, and shared out") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  for (std::uint64_t i = 1; i <= 10; ++i)
    some.place({.request = i, .chain = chain_of(10, i)});
  some.bench.settle();
  CHECK(some.groups.at(0).of<schema::Prefill>().size() == 5);
  CHECK(some.groups.at(1).of<schema::Prefill>().size() == 5);
  CHECK(some.instances.at(0).of<schema::Expect>().size() == 5);
}

TEST_CASE("who cannot be served in time is refused, with the figures") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  CHECK(some.came_of({.request = 1, .chain = {}, .prompt_tokens = 8000}).isPlaced());
  CHECK(some.came_of({.request = 2, .chain = {}, .prompt_tokens = 9000}).isPlaced());
  auto late = some.came_of({.request = 3, .chain = {}, .prompt_tokens = 3000});
  REQUIRE(late.isRefused());
  CHECK(late.getRequest() == 3);
  CHECK(late.getRefused().getWhy() == reason_told::PREFILL_LOAD);
  CHECK(late.getRefused().getLoad() == Approx(1.1));
  CHECK(late.getRefused().getRetryAfterNs() == 1'000'000'000);
  CHECK(some.count("refused_prefill_total") == 1);
  // A second later it is not: the queue has shortened.
  some.bench.advance(1s);
  CHECK(some.came_of({.request = 4, .chain = {}, .prompt_tokens = 3000}).isPlaced());
}

TEST_CASE("a client's own objective is the one that counts") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  asked wish{.request = 1, .chain = {}, .prompt_tokens = 2000, .ttft_limit = 1s};
  CHECK(some.came_of(wish).isRefused());
  wish.ttft_limit = 3s;
  CHECK(some.came_of(wish).isPlaced());
}

TEST_CASE("a conductor that holds nobody to objectives refuses nobody") {
  FOR_EVERY_SEED(seed);
  auto how = simple();
  how.wanted = {.ttft = false, .tbt = false, .load_max = 1};
  cluster some{seed, how};
  for (std::uint64_t i = 1; i <= 20; ++i)
    CHECK(
      some.came_of({.request = i, .chain = {}, .prompt_tokens = 100'000}).isPlaced());
}

TEST_CASE("a decode pool that is full is full for all, until its requests end") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  for (auto node : {0u, 1u})
    some.report_instance(node, 90, {}, {});
  auto why = some.came_of({.request = 1, .chain = chain_of(1)});
  REQUIRE(why.isRefused());
  CHECK(why.getRefused().getWhy() == reason_told::DECODE_LOAD);
  CHECK(why.getRefused().getRetryAfterNs() > 0);
  some.report_instance(1, 89, {}, {});
  auto said = some.came_of({.request = 2, .chain = chain_of(1)});
  REQUIRE(said.isPlaced());
  CHECK(said.getPlaced().getDecode().getNode() == 1);
}

TEST_CASE("without a group or an instance there is nobody to place with") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  for (auto node : {0, 1})
    some.introduce(Role::DECODE, node, false);
  auto why = some.came_of({.chain = chain_of(1)});
  REQUIRE(why.isRefused());
  CHECK(why.getRefused().getWhy() == reason_told::NO_INSTANCE);
  CHECK(why.getRefused().getRetryAfterNs() > 0);
}

TEST_CASE("a group that is lost though nobody said so is not placed with") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.vanish(some.group(0));
  for (std::uint64_t i = 1; i <= 3; ++i)
    CHECK(some.came_of({.request = i, .chain = chain_of(2, i)})
            .getPlaced()
            .getPrefill()
            .getNode()
          == 1);
  some.vanish(some.group(1));
  CHECK(some.came_of({.request = 4, .chain = chain_of(2)}).getRefused().getWhy()
        == reason_told::NO_INSTANCE);
  CHECK(some.said().size() == 4);
}

TEST_CASE("a conductor whose book is full says so") {
  FOR_EVERY_SEED(seed);
  auto how = simple();
  how.book.requests_max = 2;
  cluster some{seed, how};
  CHECK(some.came_of({.request = 1, .chain = chain_of(1)}).isPlaced());
  CHECK(some.came_of({.request = 2, .chain = chain_of(1)}).isPlaced());
  CHECK(some.came_of({.request = 3, .chain = chain_of(1)}).getRefused().getWhy()
        == reason_told::QUEUE_FULL);
}

TEST_CASE("a wish that contradicts itself is dropped, and disturbs nobody") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.place({.request = 1, .chain = chain_of(10), .prompt_tokens = 100});
  some.place({.request = 2, .chain = {}, .prompt_tokens = 10, .tokens_max = 0});
  some.bench.settle();
  CHECK(some.said().empty());
  CHECK(some.count("malformed_total") == 2);
  CHECK(some.came_of({.request = 3, .chain = chain_of(1)}).isPlaced());
}

TEST_CASE("only the rejector of today may have a request placed") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.bench.roster().seat(rejector_name{},
                           {rejector_actor{}, {1, 2}, rt::actor_tag{9}});
  some.place({.chain = chain_of(1)});
  some.bench.settle();
  CHECK(some.said().empty());
  CHECK(some.count("stale_total") == 1);
}

// -- ending -------------------------------------------------------------------

TEST_CASE("a cancel is acknowledged once, and makes room at once") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  some.introduce(Role::PREFILL, 1, false);
  CHECK(some.came_of({.request = 1, .chain = {}, .prompt_tokens = 9000}).isPlaced());
  CHECK(some.came_of({.request = 2, .chain = {}, .prompt_tokens = 9000}).isRefused());
  some.cancel(1);
  CHECK(some.came_of({.request = 3, .chain = {}, .prompt_tokens = 9000}).isPlaced());
  some.cancel(99); // nobody knows that one
  some.bench.settle();
  const auto& ends = some.gateway.of<schema::Cancelled>();
  REQUIRE(ends.size() == 2);
  CHECK(ends[0]->getRequest() == 1);
  CHECK(ends[0]->getBy() == Role::CONDUCTOR);
  CHECK(ends[1]->getRequest() == 99);
  CHECK(some.count("cancelled_total") == 1);
}

TEST_CASE("a request whose end nobody reports is forgotten after its time") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  for (std::uint64_t i = 1; i <= 20; ++i)
    some.place({.request = i, .chain = chain_of(2, i), .remaining = 10s * i});
  some.bench.settle();
  CHECK(some.count("requests") == 20);
  some.bench.advance(16s);
  CHECK(some.count("requests") == 19);
  some.bench.advance(200s);
  CHECK(some.count("requests") == 0);
  CHECK(some.count("expired_total") == 20);
}

TEST_CASE("reports follow a request to its end") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  auto placed = some.came_of({.request = 1, .chain = chain_of(2)}).getPlaced();
  auto group = placed.getPrefill().getNode(), instance = placed.getDecode().getNode();
  some.report_group(group, 1, 20, {});
  some.report_group(group, 0, 0, {1});
  some.report_instance(instance, 1, {1}, {});
  some.bench.settle();
  CHECK(some.count("requests") == 1);
  some.report_instance(instance, 0, {}, {1});
  some.bench.settle();
  CHECK(some.count("requests") == 0);
  CHECK(some.count("expired_total") == 0);
}

TEST_CASE("what a lost instance had is forgotten, and its successor begins anew") {
  FOR_EVERY_SEED(seed);
  cluster some{seed};
  for (std::uint64_t i = 1; i <= 8; ++i)
    some.place({.request = i, .chain = chain_of(2, i)});
  some.introduce(Role::PREFILL, 0, false);
  some.bench.settle();
  CHECK(some.count("requests") == 4);
  CHECK(some.count("lost_total") == 4);
  some.introduce(Role::PREFILL, 0, true);
  CHECK(some.came_of({.request = 9, .chain = chain_of(2)})
          .getPlaced()
          .getPrefill()
          .getNode()
        == 0);
}

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
  CHECK(work.getPredictedNs() == (161 - 96) * 1'000'000);
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
