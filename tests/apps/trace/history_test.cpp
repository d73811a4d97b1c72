#include "apps/perigee/trace/history.hpp"

#include "actors/runtime/name.hpp"
#include "apps/perigee/trace/course.hpp"
#include "journal/writer.hpp"
#include "schemas/request.capnp.h"
#include "tests/apps/program.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>

// Journals of two processes, made by hand, whose clocks differ by an hour.

namespace perigee::app::trace {
namespace {

constexpr std::uint64_t alice = 11; // of n0
constexpr std::uint64_t bob = 22;   // of n1
constexpr std::int64_t hour = 3'600'000'000'000;

std::unique_ptr<journal::writer> open_for(const scratch& here, const std::string& node,
                                          std::int64_t clock_offset,
                                          std::uint64_t actor) {
  journal::settings how;
  how.folder = here.path();
  how.about.node = node;
  how.about.life = 1;
  how.about.build = "x";
  how.about.clock_offset = clock_offset;
  how.in_background = false;
  auto made = journal::writer::open(how);
  REQUIRE(made);
  auto name = node + "@1/prefill.0#1";
  journal::introduction who;
  who.tag = actor;
  who.name = name;
  who.role = "prefill";
  (*made)->introduce(who);
  return std::move(*made);
}

struct said {
  std::uint64_t sender, sequence, request, parent;
  std::int64_t sent_ns;
};

kj::Array<capnp::word> landed(const said& what) {
  capnp::MallocMessageBuilder built;
  auto all = built.initRoot<schema::Landed>();
  auto header = all.initHeader();
  header.setSender(what.sender);
  header.setSequence(what.sequence);
  header.setSpan(rt::mix(what.sender + what.sequence));
  header.setParentSpan(what.parent);
  header.setSentNs(what.sent_ns);
  all.setRequest(what.request);
  return capnp::messageToFlatArray(built);
}

journal::message message_of(const said& what, const kj::Array<capnp::word>& words) {
  return {what.sender,
          what.sequence,
          capnp::typeId<schema::Landed>(),
          {words.begin(), words.size()}};
}

history read(const scratch& here) {
  static const message_book book;
  auto lives = journal::find_lives(here.path());
  REQUIRE(lives);
  return read_history(*lives, book);
}

TEST_CASE("a message between processes is one, timed by clocks brought together") {
  scratch here;
  said first{alice, 1, 500, 0, 1'000};
  said answer{bob, 1, 500, rt::mix(alice + 1), hour + 1'700};
  auto there = landed(first), back = landed(answer);
  {
    auto n0 = open_for(here, "n0", hour, alice);
    n0->sent({alice, bob, 0, message_of(first, there)});
    n0->took({alice, 2'000, message_of(answer, back)});
    auto n1 = open_for(here, "n1", 0, bob);
    n1->took({bob, hour + 1'500, message_of(first, there)});
    n1->sent({bob, alice, 0, message_of(answer, back)});
  }
  auto all = read(here);
  CHECK(all.warnings.empty());
  CHECK(all.builds.size() == 2);
  REQUIRE(all.messages.size() == 3);
  const auto& one = all.messages[all.find(rt::mix(alice + 1))];
  CHECK(all.actors[one.by].label == "n0/prefill.0");
  CHECK(all.actors[one.taker].label == "n1/prefill.0");
  CHECK(one.on_the_way() == 500);
  const auto& other = all.messages[all.find(rt::mix(bob + 1))];
  CHECK(all.actors[other.taker].label == "n0/prefill.0");
  REQUIRE(all.requests.size() == 1);
  CHECK_FALSE(all.requests[0].has_beginning);
  auto course = course_of(all, 0);
  REQUIRE(course.size() == 2);
  CHECK(course[0].depth == 0);
  CHECK(course[1].depth == 1);
}

TEST_CASE("whose journal is missing is known by what others heard") {
  scratch here;
  said first{alice, 1, 500, 0, 1'000};
  auto words = landed(first);
  open_for(here, "n1", 0, bob)->took({bob, 1'500, message_of(first, words)});
  auto all = read(here);
  REQUIRE(all.messages.size() == 2);
  CHECK(all.messages[1].has_words);
  CHECK(all.actors[all.messages[1].by].label == "?11");
  CHECK(all.requests.size() == 1);
}

TEST_CASE("words with a fault are counted and left out") {
  scratch here;
  said first{alice, 1, 500, 0, 1'000};
  auto words = landed(first);
  {
    auto n0 = open_for(here, "n0", 0, alice);
    auto bad = message_of(first, words);
    bad.words = bad.words.first(bad.words.size() - 1);
    n0->sent({alice, bob, 0, bad});
  }
  auto all = read(here);
  CHECK(all.unreadable == 1);
  CHECK(all.requests.empty());
}

TEST_CASE(
  "a request is found by number, attempt or trace id, or the nearest is named") {
  history all;
  request one;
  one.number = 1234;
  one.process = "n0@1";
  one.attempts = {9001};
  one.trace_high = 0xabc;
  one.trace_low = 0xdef;
  all.requests = {one};
  for (auto name : {"1234", "9001", "0000000000000abc0000000000000def", "n0@1:1234"})
    CHECK(find_request(all, name).value_or(7) == 0);
  CHECK(find_request(all, "1235").error()
        == "there is no request '1235' among the 1 here, but one called 1234; `list` "
           "names them");
  CHECK(holds(find_request(all, "n1@1:1234").error(), "there is no request"));
  one.process = "n1@1";
  all.requests.push_back(one);
  CHECK(holds(find_request(all, "1234").error(),
              "2 requests are called 1234: say n0@1:1234, for example"));
  CHECK(find_request(all, "n1@1:1234").value_or(7) == 1);
}

} // namespace
} // namespace perigee::app::trace
