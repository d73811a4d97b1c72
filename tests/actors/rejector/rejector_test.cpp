#include "actors/rejector/rejector.hpp"

#include "actors/conductor/conductor.hpp"
#include "actors/conductor/words.hpp"
#include "tests/actors/conductor/doubles.hpp"
#include "tests/lab/perigee_messages.hpp"
#include "tests/lab/seeds.hpp"

#include <map>
#include <set>

namespace perigee::rejector {
namespace {

using namespace std::chrono_literals;
using lab = test::lab<caf::id_block::perigee>;
using conductor::loads;
using schema::Role;
using test::asked;
using test::chain_of;
using reason_told = schema::Refusal::Reason;

constexpr conductor::group_id g0{node_index{0}, 0};
constexpr conductor::instance_id d0{node_index{0}, 0};

/// A token takes a millisecond to compute, and a decode step 10 ms for each sequence.
const conductor::cost_model simple{.prefill = {0, 1e6, 0},
                                   .decode = {0, 10e6, 0},
                                   .link = {},
                                   .disk = {},
                                   .kv_token_bytes = 1};

/// A rejector, between a gateway and a conductor that the test speaks for.
struct door {
  explicit door(std::uint64_t seed, std::string admission = "early_rejection_predicted")
    : bench(seed) {
    options how{.admission = std::move(admission),
                .load_max = 1,
                .ttft_limit = 10s,
                .tbt_limit = 100ms,
                .cost = simple};
    seat(gateway_name{}, bench.spawn<test::listening_gateway>(&gateway));
    seat(conductor_name{}, bench.spawn<test::listening_conductor>(&conductor));
    rejector = bench.adopt(start(bench.world(), {}, how, counts));
    bench.settle();
  }

  template <class Handle>
  void seat(const rt::name<Handle>& where, const Handle& who) {
    bench.roster().seat(where, {who, {1, 1}, bench.tag()});
  }

  void publish(const loads& all) {
    bench.tell<schema::Book>(rejector, [&](schema::Book::Builder copy) {
      conductor::set_book(copy, all, simple.decode, bench.now());
    });
    bench.settle();
  }

  void arrive(const asked& wish) {
    bench.tell<schema::Arrive>(
      rejector, [&](schema::Arrive::Builder arrive) { wish.write(arrive.initWish()); });
  }

  /// Whether `wish` gets past the door.
  bool passes(const asked& wish) {
    auto before = passed().size();
    arrive(wish);
    bench.settle();
    return passed().size() > before;
  }

  const std::vector<Msg<schema::Place>>& passed() const {
    return conductor.of<schema::Place>();
  }

  schema::Refusal::Reader last_refusal() const {
    return gateway.of<schema::Placed>().back()->getRefused();
  }

  std::uint64_t count(const std::string& wanted) const {
    std::map<std::string, std::uint64_t> seen;
    counts->each([&](auto name, auto, auto value) { seen[name] = value; });
    return seen.at(wanted);
  }

  std::shared_ptr<probe> counts = std::make_shared<probe>();
  test::listening_gateway::notes gateway;
  test::listening_conductor::notes conductor;
  lab bench;
  rejector_actor rejector;
};

/// One of each, idle.
loads idle() {
  loads all;
  all.decode_time = 10s;
  all.prefills[g0] = {};
  all.decodes[d0] = {};
  return all;
}

TEST_CASE("who may come in is passed on as he came") {
  FOR_EVERY_SEED(seed);
  door some{seed};
  some.publish(idle());
  REQUIRE(some.passes({.request = 4, .chain = chain_of(7), .tokens_max = 9}));
  auto wish = some.passed().front()->getWish();
  CHECK(wish.getRequest() == 4);
  CHECK(wish.getTokensMax() == 9);
  CHECK(wish.getPromptTokens() == 113);
  CHECK(to_chain(wish.getChain()) == chain_of(7));
  CHECK(wish.getRemainingNs() == 60'000'000'000);
  CHECK(some.gateway.of<schema::Placed>().empty());
}

TEST_CASE("who comes before the first book is passed on: the conductor knows more") {
  FOR_EVERY_SEED(seed);
  door some{seed};
  CHECK(some.passes({.chain = chain_of(1)}));
}

TEST_CASE(
  "when the prefill pool is full, the door is shut until the queue is shorter") {
  FOR_EVERY_SEED(seed);
  door some{seed};
  auto busy = idle();
  busy.prefills[g0].free_at = some.bench.now() + 12s;
  some.publish(busy);
  CHECK_FALSE(some.passes({.request = 3, .chain = chain_of(1)}));
  CHECK(some.gateway.of<schema::Placed>().back()->getRequest() == 3);
  CHECK(some.last_refusal().getWhy() == reason_told::PREFILL_LOAD);
  CHECK(some.last_refusal().getLoad() == Approx(1.2));
  CHECK(some.last_refusal().getRetryAfterNs() == Approx(2e9));
  // Nobody publishes again, yet time goes by: a copy that is not renewed shuts nobody
  // out.
  some.bench.advance(3s);
  CHECK(some.passes({.request = 4, .chain = chain_of(1)}));
  CHECK(some.count("arrivals_total") == 2);
  CHECK(some.count("refused_prefill_total") == 1);
}

TEST_CASE("when the decode pool will be full, the door is shut") {
  FOR_EVERY_SEED(seed);
  door some{seed};
  auto busy = idle();
  busy.decodes[d0].coming.assign(11, {some.bench.now() + 10ms, {}, 1});
  some.publish(busy);
  CHECK_FALSE(some.passes({.chain = chain_of(2)}));
  CHECK(some.last_refusal().getWhy() == reason_told::DECODE_LOAD);
  CHECK(some.passes({.chain = chain_of(2), .tokens_max = 1})); // needs no decode
}

TEST_CASE("a client's own objective is the one that counts") {
  FOR_EVERY_SEED(seed);
  door some{seed};
  auto busy = idle();
  busy.prefills[g0].free_at = some.bench.now() + 5s;
  some.publish(busy);
  CHECK(some.passes({.chain = chain_of(1)}));
  CHECK_FALSE(some.passes({.chain = chain_of(1), .ttft_limit = 4s}));
}

TEST_CASE("who comes when the copy shows nobody is passed on: the conductor says so") {
  FOR_EVERY_SEED(seed);
  door some{seed};
  auto empty = idle();
  empty.decodes.clear();
  some.publish(empty);
  CHECK(some.passes({.chain = chain_of(1)}));
  empty = idle();
  empty.prefills.clear();
  some.publish(empty);
  CHECK(some.passes({.request = 2, .chain = chain_of(1)}));
  CHECK(some.count("refused_no_instance_total") == 0);
}

TEST_CASE("a rejector forgets the book of a conductor that is lost") {
  FOR_EVERY_SEED(seed);
  door some{seed};
  auto busy = idle();
  busy.prefills[g0].free_at = some.bench.now() + 1h;
  some.publish(busy);
  CHECK_FALSE(some.passes({.chain = chain_of(1)}));
  some.bench.tell<schema::Member>(some.rejector,
                                  test::member(Role::CONDUCTOR, 0, false));
  CHECK(some.passes({.chain = chain_of(1)}));
}

TEST_CASE(
  "without a conductor, a request is refused and a cancel acknowledged at once") {
  FOR_EVERY_SEED(seed);
  door some{seed};
  REQUIRE(some.bench.roster().vacate(conductor_name{}, {1, 1}));
  some.arrive({.request = 8, .chain = chain_of(1)});
  some.bench.tell<schema::Cancel>(some.rejector, test::cancelling(8));
  some.bench.settle();
  CHECK(some.last_refusal().getWhy() == reason_told::NO_INSTANCE);
  CHECK(some.last_refusal().getRetryAfterNs() > 0);
  REQUIRE(some.gateway.of<schema::Cancelled>().size() == 1);
  CHECK(some.gateway.of<schema::Cancelled>()[0]->getRequest() == 8);
  CHECK(some.gateway.of<schema::Cancelled>()[0]->getBy() == Role::REJECTOR);
}

TEST_CASE("a cancel follows its request to the conductor, never before it") {
  FOR_EVERY_SEED(seed);
  door some{seed};
  some.arrive({.request = 8, .chain = chain_of(1)});
  some.bench.tell<schema::Cancel>(some.rejector, test::cancelling(8));
  some.bench.settle();
  REQUIRE(some.conductor.of<schema::Cancel>().size() == 1);
  auto place = *some.passed().front();
  auto cancel = *some.conductor.of<schema::Cancel>().front();
  CHECK(cancel.getRequest() == 8);
  CHECK(place.getHeader().getSequence() < cancel.getHeader().getSequence());
  CHECK(some.gateway.of<schema::Cancelled>().empty()); // the conductor's to say
}

TEST_CASE("what comes in the name of who is gone is dropped") {
  FOR_EVERY_SEED(seed);
  door some{seed};
  some.publish(idle());
  some.bench.roster().seat(gateway_name{}, {gateway_actor{}, {1, 2}, rt::actor_tag{9}});
  CHECK_FALSE(some.passes({.chain = chain_of(1)}));
  some.bench.roster().seat(conductor_name{},
                           {conductor_actor{}, {1, 2}, rt::actor_tag{9}});
  some.publish(idle());
  CHECK(some.count("stale_total") == 2);
}

// -- with a conductor ---------------------------------------------------------

/// A real conductor behind a real rejector; all others listen.
struct entrance {
  explicit entrance(std::uint64_t seed) : bench(seed) {
    seat(gateway_name{}, bench.spawn<test::listening_gateway>(&gateway), bench.tag());
    seat(prefill_name{}, bench.spawn<test::listening_group>(&group), bench.tag());
    seat(decode_name{}, bench.spawn<test::listening_instance>(&instance), bench.tag());
    conductor::options placing;
    placing.cost = simple;
    placing.ttft_limit = 10s;
    options judging;
    judging.cost = simple;
    judging.ttft_limit = 10s;
    auto places = bench.adopt(conductor::start(bench.world(), {}, placing));
    door = bench.adopt(start(bench.world(), {}, judging));
    seat(conductor_name{}, places, tag("conductor"));
    seat(rejector_name{}, door, tag("rejector"));
    for (auto role : {Role::PREFILL, Role::DECODE})
      bench.tell<schema::Member>(places, test::member(role, 0, true));
    bench.advance(1s);
  }

  static rt::actor_tag tag(const char* role) {
    return rt::tag_of(rt::full_name("lab", 1, role, {}));
  }

  template <class Handle>
  void seat(const rt::name<Handle>& where, const Handle& who, rt::actor_tag tag) {
    bench.roster().seat(where, {who, {1, 1}, tag});
  }

  void arrive(const asked& wish) {
    bench.tell<schema::Arrive>(
      door, [&](schema::Arrive::Builder arrive) { wish.write(arrive.initWish()); });
  }

  /// What became of each request, as text.
  std::map<std::uint64_t, std::string> outcomes() const {
    std::map<std::uint64_t, std::string> all;
    for (const auto& one : gateway.of<schema::Placed>()) {
      auto said = *one;
      all[said.getRequest()]
        = said.isPlaced() ? "placed " + std::to_string(said.getPlaced().getTtftNs())
                              + " " + std::to_string(said.getPlaced().getTbtNs())
                          : "refused " + std::to_string(said.getRefused().getLoad());
    }
    return all;
  }

  test::listening_gateway::notes gateway;
  test::listening_group::notes group;
  test::listening_instance::notes instance;
  lab bench;
  rejector_actor door;
};

TEST_CASE(
  "of a burst, as many are placed as can be served in time, however stale the book") {
  FOR_EVERY_SEED(seed);
  entrance some{seed};
  for (std::uint64_t i = 1; i <= 30; ++i) // a second each, and ten in time
    some.arrive({.request = i, .chain = {}, .prompt_tokens = 1000});
  some.bench.settle();
  CHECK(some.group.of<schema::Prefill>().size() == 10);
  CHECK(some.outcomes().size() == 30);
}

// What a trace knows of an answer's length reaches tokensMax at most: a client's limit.
TEST_CASE("how long an answer may be changes neither admission nor placement") {
  FOR_EVERY_SEED(seed);
  auto run = [seed](std::uint32_t tokens_max) {
    entrance some{seed};
    for (std::uint64_t i = 1; i <= 60; ++i) {
      some.arrive({.request = i,
                   .chain = chain_of(i % 50, i % 7),
                   .tokens_max = tokens_max + static_cast<std::uint32_t>(i % 3)});
      some.bench.advance(50ms);
    }
    return some.outcomes();
  };
  CHECK(run(2) == run(100'000));
}

/// Every struct that a message of `type` may hold.
void visit(capnp::StructSchema type, std::set<std::string>& fields,
           std::set<std::uint64_t>& seen) {
  if (!seen.insert(type.getProto().getId()).second)
    return;
  for (auto field : type.getFields()) {
    fields.insert(field.getProto().getName().cStr());
    auto inner = field.getType();
    while (inner.isList())
      inner = inner.asList().getElementType();
    if (inner.isStruct())
      visit(inner.asStruct(), fields, seen);
  }
}

TEST_CASE("no message to rejector or conductor can hold a modelled answer's length") {
  std::set<std::string> fields;
  std::set<std::uint64_t> seen;
  auto look
    = [&]<class... Ts>() { (visit(capnp::Schema::from<Ts>(), fields, seen), ...); };
  look.template operator()<schema::Arrive, schema::Place, schema::Cancel, schema::Book,
                           schema::PrefillLoad, schema::DecodeLoad, schema::Stored,
                           schema::Evicted, schema::Snapshot, schema::Member>();
  CHECK(fields.contains("promptTokens"));
  CHECK_FALSE(fields.contains("modelledTokens"));
  seen.clear();
  visit(capnp::Schema::from<schema::Prompt>(), fields, seen);
  CHECK(fields.contains("modelledTokens")); // so it would be found
}

} // namespace
} // namespace perigee::rejector
