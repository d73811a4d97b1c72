#include "apps/perigee/replay/course.hpp"

#include "apps/perigee/replay/key_ranks.hpp"

#include <catch2/catch.hpp>

#include <numeric>

namespace perigee::app {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a recorder reads at its moments, and once more at the end") {
  std::uint64_t now = 0;
  recorder some{2s, {{"a", "x", [&] { return now; }}, {"b", "y", [] { return 5; }}}};
  for (; some.next() <= 5s; ++now)
    some.read();
  auto all = some.take(5s);
  CHECK(all.columns == std::vector<course::column>{{"a", "x"}, {"b", "y"}});
  CHECK(all.rows
        == std::vector<course::row>{
          {0s, {0, 5}}, {2s, {1, 5}}, {4s, {2, 5}}, {5s, {3, 5}}});
  CHECK(all.last("a", "x") == 3);
  CHECK(all.last("a", "z") == 0);
  CHECK(all.last_sum("b") == 5);
}

TEST_CASE("however long it lasts, there are no more rows than may be") {
  std::uint64_t count = 0;
  recorder some{1s, {{"a", "x", [&] { return count; }}}};
  for (; some.next() < 10'000s;) {
    count = static_cast<std::uint64_t>(some.next() / 1s);
    some.read();
  }
  auto all = some.take(10'000s);
  CHECK(all.rows.size() > recorder::rows_max / 2);
  CHECK(all.rows.size() <= recorder::rows_max + 1);
  auto step = all.rows[1].at - all.rows[0].at;
  for (std::size_t i = 0; i + 1 < all.rows.size(); ++i) {
    CHECK(all.rows[i].at == i * step);
    CHECK(all.rows[i].values[0] == static_cast<std::uint64_t>(all.rows[i].at / 1s));
  }
}

TEST_CASE("blocks are ranked by how often they were asked for, then by who was first") {
  key_ranks some{100};
  some.add(std::vector<std::uint64_t>{1, 2, 3});
  some.add(std::vector<std::uint64_t>{1, 3});
  CHECK(some.at(1) == 1);
  CHECK(some.at(2) == 3);
  CHECK(some.at(3) == 2);
  CHECK_FALSE(some.at(4));
  some.add(std::vector<std::uint64_t>{3});
  CHECK(some.at(1) == 3);
}

TEST_CASE("a bounded count forgets who was asked for least") {
  key_ranks some{100};
  for (std::uint64_t id = 0; id < 10'000; ++id)
    some.add(std::vector<std::uint64_t>{7, 1'000 + id});
  CHECK(some.at(1) == 7);
  CHECK_FALSE(some.at(101));
}

TEST_CASE("there are no ranks beyond the last") {
  std::vector<std::uint64_t> many(key_ranks::rank_max + 5);
  std::iota(many.begin(), many.end(), std::uint64_t{0});
  key_ranks some{many.size()};
  some.add(many);
  CHECK(some.at(key_ranks::rank_max) == key_ranks::rank_max - 1);
  CHECK_FALSE(some.at(key_ranks::rank_max + 1));
}

} // namespace
} // namespace perigee::app
