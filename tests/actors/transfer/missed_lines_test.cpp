#include "tests/actors/transfer/two_nodes.hpp"
#include "tests/lab/seeds.hpp"

// What a node says of another to which it has no line, or not the best one.

namespace perigee::transfer {
namespace {

using how = schema::Reached::How;
using hows = std::vector<how>;

TEST_CASE("a line that does not come is missed until it does") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  CHECK(all.first.told.reached == hows{how::WELL});
  all.first.told.reached.clear();
  all.second.told.reached.clear();
  all.best.is_cut = all.other.is_cut = true;
  all.best.fail();
  all.bench.advance(9s);
  CHECK(all.first.told.reached.empty());
  all.bench.advance(200s); // both go on trying: nobody is unheard of
  for (const auto* one : {&all.first, &all.second}) {
    CHECK(one->told.reached.size() >= 3);
    for (auto each : one->told.reached)
      CHECK(each == how::NOT_AT_ALL);
  }
  all.best.is_cut = all.other.is_cut = false;
  all.bench.advance(5s);
  for (const auto* one : {&all.first, &all.second})
    CHECK(one->told.reached.back() == how::WELL);
  auto said = all.first.told.reached.size();
  all.bench.advance(200s);
  CHECK(all.first.told.reached.size() == said);
}

TEST_CASE("of who says nothing for long it is said that nobody hears it") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  SECTION("who should dial does not") {
    all.tell_member(all.first, all.second, true);
    all.bench.advance(75s);
    CHECK(all.first.told.reached == hows{how::NOT_AT_ALL, how::UNHEARD});
  }
  SECTION("who is dialed does not answer") {
    all.bench.roster().vacate(transfer_name{node_index{1}, 0}, {1, 1}); // not believed
    all.tell_member(all.second, all.first, true);
    all.bench.advance(75s);
    CHECK(all.second.told.reached == hows{how::NOT_AT_ALL, how::UNHEARD});
  }
}

TEST_CASE("who comes back has as long again") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.tell_member(all.first, all.second, true);
  all.bench.advance(75s);
  all.tell_member(all.first, all.second, false);
  all.first.told.reached.clear();
  all.tell_member(all.first, all.second, true);
  all.bench.advance(65s);
  CHECK(all.first.told.reached == hows{how::NOT_AT_ALL});
}

TEST_CASE("who is fenced gets no line before it has come back") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  all.fence(all.first, all.second, 1);
  all.best.fail(); // as a real wire shows the other end by itself
  all.bench.advance(1s);
  CHECK(all.first.count("lines_up") == 0);
  all.tell_member(all.first, all.second, false);
  all.tell_member(all.first, all.second, true);
  all.bench.advance(5s);
  CHECK(all.first.count("lines_up") == 1);
}

TEST_CASE("nothing is said of who is gone") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.tell_member(all.first, all.second, true);
  all.bench.advance(5s);
  all.tell_member(all.first, all.second, false);
  all.bench.advance(200s);
  CHECK(all.first.told.reached.empty());
}

TEST_CASE("a push that a lost transfer actor was asked first waits for the other end") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed}; // the first is the successor
  all.tell_member(all.first, all.second, true);
  all.ask<schema::Push>(1, 1, 2, 0, true);
  all.ask<schema::Push>(2, 1, 2);
  all.abort(1);
  all.abort(2);
  CHECK(all.fault_of(2) == MoveFault::ABORTED);
  CHECK_FALSE(all.heard.contains(1));
  SECTION("until it dials") {
    all.tell_member(all.second, all.first, true);
    CHECK(all.fault_of(1) == MoveFault::ABORTED);
  }
  SECTION("or is gone") {
    all.tell_member(all.first, all.second, false);
    CHECK(all.fault_of(1) == MoveFault::ABORTED);
  }
  CHECK(all.first.count("movements_open") == 0);
}

TEST_CASE("a push that is asked again takes place if there is time") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.tell_member(all.first, all.second, true);
  all.ask<schema::Push>(1, 1, 2, 0, true);
  all.tell_member(all.second, all.first, true);
  CHECK(all.fault_of(1) == MoveFault::NONE);
  CHECK(two_nodes::arrived(all.first.own, all.second.own));
}

TEST_CASE("a way that had failed is taken again after a while, when nothing is moved") {
  FOR_EVERY_SEED(seed);
  two_nodes all{seed};
  all.meet();
  all.best.is_cut = true;
  all.best.fail();
  all.bench.advance(5s);
  REQUIRE(all.other.connected == 1);
  SECTION("in vain, and then later still") {
    all.bench.advance(310s);
    CHECK(all.second.count("lines_lost_total") == 2);
    CHECK(all.other.connected == 2);
  }
  SECTION("with success") {
    all.best.is_cut = false;
    all.bench.advance(310s);
    CHECK(all.best.connected == 2);
    CHECK(all.second.counts->census().lines().at("0").why == "best");
  }
}

} // namespace
} // namespace perigee::transfer
