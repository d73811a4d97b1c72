#include "actors/cluster/complaint_book.hpp"

#include <catch2/catch.hpp>

namespace perigee::cluster {
namespace {

TEST_CASE("complaints come out by line, and from outside first") {
  complaint_book book{"t.toml"};
  book.refuse_value("slo.ttft_ms", 9, {"\"soon\"", "a whole number"});
  book.refuse_key("slo.tfft_ms", 4, {"ttft_ms", "tbt_ms"});
  book.refuse_value_from("environment", "slo.tbt_ms", {"\"x\"", "a whole number"});
  CHECK_FALSE(book.empty());
  auto all = book.take();
  REQUIRE(all.size() == 3);
  CHECK(all[0].file == "environment");
  CHECK(all[1].line == 4);
  CHECK(all[1].what == bad_input::code::unknown_key);
  CHECK(all[1].nearest == "ttft_ms");
  CHECK(all[2].line == 9);
  CHECK(all[2].file == "t.toml");
  CHECK(book.empty());
}

TEST_CASE("a contradiction is told where its setting stands, or what it would be in") {
  complaint_book book{"t.toml"};
  book.stands("node", 3);
  book.stands("node[0].cache_shard", 7);
  book.stands("node[0].cache_shard.dram", 8);
  book.contradict("node[0].cache_shard.dram", "node.a.cache_shard.dram", {"0", "more"});
  book.contradict("node[0].cache_shard.ssd", "node.a.cache_shard.ssd", {"0", "more"});
  book.contradict("node[1].name", "node.b.name", {"b", "another"});
  book.contradict("slo.ttft_ms", "slo.ttft_ms", {"0", "more"});
  auto all = book.take();
  REQUIRE(all.size() == 4);
  CHECK(all[0].key == "slo.ttft_ms");
  CHECK(all[0].line == 0);
  CHECK(all[1].line == 3);
  CHECK(all[2].line == 7);
  CHECK(all[3].line == 8);
}

TEST_CASE("a contradiction of what was set from outside is told of there") {
  complaint_book book{"t.toml"};
  book.stands("slo.ttft_ms", 3);
  book.comes_from("slo.ttft_ms", "command line");
  book.contradict("slo.ttft_ms", "slo.ttft_ms", {"1", "more than tbt_ms"});
  auto all = book.take();
  REQUIRE(all.size() == 1);
  CHECK(all[0].file == "command line");
  CHECK(all[0].line == 0);
}

TEST_CASE("so many complaints are kept, and no more") {
  complaint_book book{"t.toml"};
  for (unsigned line = 1; line < 100; ++line)
    book.refuse_key("x", line, {});
  CHECK(book.take().size() == complaint_book::complaints_max);
}

} // namespace
} // namespace perigee::cluster
