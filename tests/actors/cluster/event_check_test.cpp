#include "actors/cluster/event_times.hpp"
#include "actors/cluster/handbook.hpp"
#include "actors/cluster/topology_reader.hpp"

#include <catch2/catch.hpp>

namespace perigee::cluster {
namespace {

// 17 lines.
const std::string pools = R"([model]
block_tokens = 512
[model.shape]
[hardware.box]
prefill_token_us = 50
transfer_gib_per_s = 10
[[node]]
name = "p"
count = 2
cache_shard = { dram = "1GiB" }
prefill_group = [ { engine = "modelled", hardware = "box" } ]
[[node]]
name = "d0"
cache_shard = { dram = "1GiB" }
decode_instance = [ { engine = "modelled", hardware = "box" } ]
[[node]]
name = "empty"
)";

std::string event(const std::string& lines) {
  return "[[event]]\n" + lines + "\n";
}

/// What is written down in full names a model's file.
std::string with_path(std::string file) {
  return file.insert(file.find("[model.shape]"), "path = \"m.gguf\"\n");
}

/// What is said of `events`, each error on a line.
std::string said_of(const std::string& events, const std::string& before = pools) {
  auto got = read_topology(before + events, {"t.toml", {}});
  return got ? "nothing is wrong" : to_string(got.error());
}

TEST_CASE("events of every kind are read, and written down again") {
  auto got = read_topology(
    with_path(pools) + event("at_s = 120.5\nwhat = \"kill\"\nnode = \"d0\"\nfor_s = 60")
      + event("what = \"kill\"\nnode = \"p0\"\nactor = \"conductor\"")
      + event("what = \"slow\"\nnode = \"p1\"\nfactor = 3.5")
      + event("what = \"cut_link\"\nfrom = \"p1\"\nto = \"d0\"\nfor_s = 5")
      + event("what = \"slow_link\"\nnode = \"p1\"")
      + event("what = \"fill\"\nnode = \"p1\""),
    {"t.toml", {}});
  if (!got)
    FAIL(to_string(got.error()));
  REQUIRE(got->events.size() == 6);
  CHECK(got->events[0].at_s == 120.5);
  CHECK(got->events[2].factor == 3.5);
  for (const auto& text : {to_toml(*got), resolved(*got)}) {
    auto again = read_topology(text, {"t.toml", {}});
    INFO(text);
    if (!again)
      FAIL(to_string(again.error()));
    CHECK(*again == *got);
  }
}

TEST_CASE("an event names what is there") {
  CHECK(said_of(event("what = \"kill\"\nnode = \"d1\""))
        == "t.toml:20: event[0].node is \"d1\": expected the name of a node; did you "
           "mean \"p1\"?\n");
  CHECK(said_of(event("what = \"kill\"\nnode = \"d0\"\nactor = \"prefill_group\""))
        == "t.toml:21: event[0].actor is \"prefill_group\": expected an actor that is "
           "on d0\n");
  CHECK(said_of(event("what = \"kill\"\nnode = \"d0\"\nactor = \"conductor\""))
          .find("expected an actor that is on d0")
        != std::string::npos);
  CHECK(said_of(
          event("what = \"kill\"\nnode = \"p0\"\nactor = \"prefill_group\"\nindex = 1"))
        == "t.toml:22: event[0].index is 1: expected less than 1: there are no more on "
           "p0\n");
  CHECK(said_of(event("what = \"slow\"\nnode = \"empty\""))
          .find("event[0].node is \"empty\": expected a node that has engines")
        != std::string::npos);
  CHECK(said_of(event("what = \"fill\"\nnode = \"empty\""))
          .find("expected a node that has a cache_shard")
        != std::string::npos);
  CHECK(said_of(event("what = \"cut_link\"\nfrom = \"p0\"\nto = \"x\""))
          .find("event[0].to is \"x\": expected the name of a node")
        != std::string::npos);
}

TEST_CASE("an event says what happens, when, and to one thing") {
  CHECK(said_of(event("node = \"d0\"")).find("event[0].what is not set: expected")
        != std::string::npos);
  CHECK(said_of(event("what = \"kil\"\nnode = \"d0\"")).find("did you mean \"kill\"?")
        != std::string::npos);
  CHECK(said_of(event("what = \"kill\"\nnode = \"d0\"\nat_s = -1"))
        == "t.toml:21: event[0].at_s is -1: expected a number from 0 to 100000000\n");
  CHECK(said_of(event("what = \"kill\"\nnode = \"d0\"\nfrom = \"p0\""))
          .find("none: only links go from one node to another")
        != std::string::npos);
  CHECK(said_of(event("what = \"cut_link\"\nnode = \"p0\"\nfrom = \"p0\"\nto = \"d0\""))
          .find("either a node, or from and to")
        != std::string::npos);
  CHECK(said_of(event("what = \"cut_link\"\nfrom = \"p0\"\nto = \"p0\""))
          .find("either a node, or from and to")
        != std::string::npos);
  CHECK(said_of(event("what = \"slow\"\nnode = \"p0\"\nactor = \"prefill_group\""))
          .find("none, unless one is killed")
        != std::string::npos);
}

TEST_CASE("the gateway's node comes back") {
  CHECK(said_of(event("what = \"kill\"\nnode = \"p0\""))
          .find("without the node's gateway nobody is ever answered")
        != std::string::npos);
  CHECK(said_of(event("what = \"kill\"\nnode = \"p0\"\nfor_s = 1"))
        == "nothing is wrong");
}

TEST_CASE("there is a link to cut only where there is a network") {
  auto free = pools;
  free.replace(free.find("transfer_gib_per_s = 10"), 23, "");
  auto cut = event("what = \"cut_link\"\nfrom = \"p0\"\nto = \"d0\"");
  CHECK(said_of(cut, free).find("unless movements between nodes take time")
        != std::string::npos);
  CHECK(said_of(cut + "[fabric]\nlatency_us = 1\n", free) == "nothing is wrong");
  auto slow = event("what = \"slow_link\"\nfrom = \"p0\"\nto = \"d0\"");
  CHECK(said_of(slow + "[fabric]\nlatency_us = 1\n", free)
          .find("a link whose bandwidth has a limit")
        != std::string::npos);
  CHECK(said_of(slow + "[fabric]\ncore_gib_per_s = 1\n", free) == "nothing is wrong");
}

TEST_CASE("of two events on one thing, the first is over before the second begins") {
  auto kill = [](const std::string& at, const std::string& length,
                 const std::string& more = "") {
    return event("what = \"kill\"\nnode = \"d0\"\nat_s = " + at + "\nfor_s = " + length
                 + "\n" + more);
  };
  CHECK(said_of(kill("10", "5") + kill("15", "5")) == "nothing is wrong");
  CHECK(
    said_of(kill("10", "5") + kill("14", "5"))
    == "t.toml:27: event[1].at_s is 14.0: expected a moment when event[0], kill d0, "
       "is over\n");
  CHECK(said_of(kill("10", "0") + kill("99", "5")).find("event[1].at_s")
        != std::string::npos);
  CHECK(said_of(kill("10", "5", "actor = \"transfer\"")
                + kill("10", "5", "actor = \"cache_shard\""))
        == "nothing is wrong");
  CHECK(said_of(kill("10", "5") + kill("12", "1", "actor = \"transfer\""))
          .find("event[1].at_s")
        != std::string::npos);
  CHECK(said_of(event("what = \"slow_link\"\nnode = \"p0\"")
                + event("what = \"cut_link\"\nnode = \"p0\"\nat_s = 9"))
          .find("event[1].at_s")
        != std::string::npos);
  CHECK(said_of(event("what = \"slow\"\nnode = \"p0\"")
                + event("what = \"fill\"\nnode = \"p0\""))
        == "nothing is wrong");
}

TEST_CASE("real engines have no events") {
  auto said = said_of(event("what = \"kill\"\nnode = \"n0\"\nactor = \"transfer\""),
                      "[model]\npath = \"m.gguf\"\n[[node]]\nprefill_group = [{}]\n"
                      "decode_instance = [{}]\n");
  CHECK(said.find("event is a list: expected none, unless the engines are \"modelled\"")
        != std::string::npos);
}

TEST_CASE("an event is told as a person would") {
  event_settings one;
  one.what = "kill";
  one.node = "d1";
  CHECK(description_of(one) == "kill d1");
  one.actor = "decode_instance";
  CHECK(description_of(one) == "kill decode_instance.0 of d1");
  event_settings cut;
  cut.what = "cut_link";
  cut.from = "p0";
  cut.to = "d1";
  CHECK(description_of(cut) == "cut_link p0 to d1");
}

} // namespace
} // namespace perigee::cluster
