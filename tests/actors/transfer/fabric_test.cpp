#include "actors/transfer/fabric.hpp"

#include "tests/actors/transfer/node.hpp"
#include "tests/lab/seeds.hpp"
#include "transport/modelled/flow_table.hpp"

#include <catch2/catch.hpp>

namespace perigee::transfer {
namespace {

using namespace std::chrono_literals;
using transport::network_plan;

const options over_a_fabric{.links = {.fabric = fabric_name{}}};

/// A node, another one, and the network between them.
struct two_hosts : node {
  two_hosts(std::uint64_t seed, network_plan plan, options how = over_a_fabric)
    : node(seed, how, 1), network(std::move(plan)) {
    begin_fabric(1);
  }

  void begin_fabric(std::uint32_t incarnation) {
    fabric = bench.adopt(start_fabric(bench.world(), {.incarnation = incarnation},
                                      {.network = network}, fabric_counts));
    auto full = rt::full_name(bench.world().node, bench.world().life, "fabric",
                              {0, incarnation});
    tag = rt::tag_of(full);
    bench.roster().seat(fabric_name{}, {fabric, {1, incarnation}, tag});
  }

  void tell_of_fabric(bool up) {
    bench.tell<schema::Member>(subject, [&](schema::Member::Builder news) {
      news.setRole(schema::Role::FABRIC);
      news.initWho();
      news.setTag(static_cast<std::uint64_t>(tag));
      news.setUp(up);
    });
    bench.settle();
  }

  std::uint64_t duration_of(std::uint64_t ticket) const {
    REQUIRE(fault_of(ticket) == MoveFault::NONE);
    return heard.at(ticket)->getDurationNs();
  }

  std::uint64_t flows(const std::string& wanted) const {
    std::map<std::string, std::uint64_t> seen;
    fabric_counts->each([&](auto name, auto, auto value) { seen[name] = value; });
    return seen.at(wanted);
  }

  network_plan network;
  std::shared_ptr<fabric_probe> fabric_counts = std::make_shared<fabric_probe>();
  fabric_actor fabric;
  rt::actor_tag tag{};
};

const network_plan one_byte_per_ns{.ports = {{1e9, 30ns}, {1e9, {}}}, .latency = 70ns};

TEST_CASE("a movement to another node takes its bytes over the network, and latency") {
  FOR_EVERY_SEED(seed);
  two_hosts here{seed, one_byte_per_ns};
  here.push(1);
  here.bench.advance(2 * block_bytes * 1ns + 99ns);
  CHECK_FALSE(here.answered(1));
  CHECK_FALSE(here.arrived(0, 5));
  here.bench.advance(1ns);
  CHECK(here.duration_of(1) == 2 * block_bytes + 100);
  CHECK(here.arrived(0, 5));
  CHECK(here.flows("flows_total") == 1);
  CHECK(here.flows("bytes_total") == 2 * block_bytes);
  CHECK(here.flows("flows_open") == 0);
}

TEST_CASE("movements between nodes share what is narrowest on their way") {
  FOR_EVERY_SEED(seed);
  two_hosts here{seed, {.ports = {{4e9, {}}, {4e9, {}}}, .core_bytes_per_s = 1e9}};
  here.push(1);
  here.push(2, {.sources = {0}, .targets = {0}});
  here.bench.advance(1h);
  CHECK(here.duration_of(2) == 2 * block_bytes);
  CHECK(here.duration_of(1) == 3 * block_bytes);
}

TEST_CASE("whoever waits for layers from another node is told when each came") {
  FOR_EVERY_SEED(seed);
  two_hosts here{seed, one_byte_per_ns};
  auto began = here.bench.now();
  auto there = here.shared.gates->open(gate_id{6});
  here.push(1, {.open_gate = 6});
  here.bench.advance(128ns);
  here.push(2,
            {.sources = {0}, .targets = {0}}); // each has half, from the second layer
  here.bench.advance(1h);
  auto first = began + 100ns + 128ns;
  CHECK(there->opened_at(0) == first);
  CHECK(there->opened_at(1) == first + 256ns);
  CHECK(there->opened_at(2) == first + 448ns); // alone again after 384
}

TEST_CASE("over a link that is cut nothing moves until it is mended") {
  FOR_EVERY_SEED(seed);
  auto plan = one_byte_per_ns;
  plan.faults = {{.from = 1, .begins = 100ns, .ends = 2100ns}};
  two_hosts here{seed, plan};
  here.push(1);
  here.bench.advance(2 * block_bytes * 1ns + 2000ns + 99ns);
  CHECK_FALSE(here.answered(1));
  here.bench.advance(1ns);
  CHECK(here.duration_of(1) == 2 * block_bytes + 2000 + 100);
}

TEST_CASE("a movement over a link that stays cut ends at its limit") {
  FOR_EVERY_SEED(seed);
  auto plan = one_byte_per_ns;
  plan.faults = {{.from = 0, .begins = 100ns}};
  two_hosts here{seed, plan};
  here.push(1);
  here.bench.advance(1min);
  REQUIRE(here.answered(1));
  CHECK(here.fault_of(1) == MoveFault::TIMED_OUT);
  CHECK(here.flows("flows_open") == 0);
}

TEST_CASE("a fabric that is started within a fault has it") {
  auto plan = one_byte_per_ns;
  plan.faults = {{.from = 0, .begins = 0ns, .ends = 1h, .share = 0.5}};
  two_hosts here{1, plan};
  here.push(1);
  here.bench.advance(1ms);
  CHECK(here.duration_of(1) == 4 * block_bytes + 100);
}

TEST_CASE("within a node nothing goes over the network, each way has its own link") {
  FOR_EVERY_SEED(seed);
  auto how = over_a_fabric;
  how.links.load_bytes_per_s = 1e9;
  how.links.store_bytes_per_s = 2e9;
  node here{seed, how}; // where there is no fabric
  here.push(1);
  here.ask<schema::Fetch>(2, {.sources = {0}, .targets = {0}});
  here.bench.advance(1h);
  CHECK(here.heard.at(1)->getDurationNs() == block_bytes);
  CHECK(here.heard.at(2)->getDurationNs() == block_bytes);
}

TEST_CASE("an aborted movement leaves the network to the others") {
  FOR_EVERY_SEED(seed);
  two_hosts here{seed, one_byte_per_ns};
  here.push(1);
  here.push(2);
  here.bench.advance(2 * block_bytes * 1ns); // half of each
  here.abort(1);
  CHECK(here.fault_of(1) == MoveFault::ABORTED);
  here.bench.advance(1h);
  CHECK(here.duration_of(2) == 3 * block_bytes + 100);
  CHECK(here.flows("flows_stopped_total") == 1);
}

TEST_CASE("what a lost mover had under way is under way no more") {
  FOR_EVERY_SEED(seed);
  two_hosts here{seed, one_byte_per_ns};
  here.push(1);
  CHECK(here.flows("flows_open") == 1);
  here.bench.tell<schema::Member>(here.fabric, [&](schema::Member::Builder news) {
    news.setRole(schema::Role::TRANSFER);
    news.initWho();
    news.setTag(static_cast<std::uint64_t>(here.tag_of_subject()));
  });
  here.bench.settle();
  CHECK(here.flows("flows_open") == 0);
}

TEST_CASE("a new fabric begins anew with what was under way") {
  FOR_EVERY_SEED(seed);
  two_hosts here{seed, one_byte_per_ns};
  here.push(1);
  here.bench.advance(100ns);
  rt::kill(here.fabric);
  here.bench.settle();
  here.bench.advance(1us);
  CHECK_FALSE(here.answered(1));
  here.begin_fabric(2);
  here.tell_of_fabric(true);
  here.bench.advance(1h);
  CHECK(here.duration_of(1) == 1'100 + 2 * block_bytes + 100);
}

TEST_CASE("of what waits for layers, the last one follows when it is there") {
  FOR_EVERY_SEED(seed);
  auto how = over_a_fabric;
  how.links.port_bytes_per_s = 1e9;
  two_hosts here{seed, one_byte_per_ns, how};
  auto computed = here.shared.gates->open(gate_id{5});
  here.push(1, {.await_gate = 5});
  here.bench.advance(1ms);
  computed->open_to(3);
  here.bench.settle();
  CHECK_FALSE(here.answered(1));
  here.bench.advance(1h);
  CHECK(here.duration_of(1) == 1'000'000 + 2 * block_bytes / small.layers);
}

TEST_CASE("of what comes later than its layers, no layer is late") {
  FOR_EVERY_SEED(seed);
  auto how = over_a_fabric;
  how.links.port_bytes_per_s = 1e9;
  two_hosts here{seed, one_byte_per_ns, how};
  auto computed = here.shared.gates->open(gate_id{5});
  here.push(1, {.await_gate = 5});
  computed->open_to(3);
  here.bench.advance(1h);
  CHECK(here.duration_of(1) == 2 * block_bytes + 100);
}

// Mooncake, FAST'25, figure 14: of 128k tokens at 320 KiB, 40 GiB, the transfer takes
// .494 s and the load of the decode instance .421 s; half the tokens, half of that.
TEST_CASE("a prompt's KV takes as long to another node, and to load, as was measured") {
  constexpr std::uint64_t GiB = std::uint64_t{1} << 30;
  for (std::uint64_t tokens : {8, 16, 32, 64, 128}) {
    auto bytes = static_cast<double>(tokens * 40 * GiB / 128);
    transport::network between{{.ports = {{81. * GiB, 5us}, {81. * GiB, 5us}}}};
    transport::flow_table over{between.capacities()}, loading{{95. * GiB}};
    auto way = between.between(0, 1);
    over.begin(1, static_cast<std::uint64_t>(bytes), way.links, {});
    loading.begin(1, static_cast<std::uint64_t>(bytes), {0}, {});
    auto share = static_cast<double>(tokens) / 128;
    CHECK(static_cast<double>((*over.next_end() + way.latency).count()) * 1e-9
          == Approx(.494 * share).epsilon(.035));
    CHECK(static_cast<double>(loading.next_end()->count()) * 1e-9
          == Approx(.421 * share).epsilon(.07));
  }
}

} // namespace
} // namespace perigee::transfer
