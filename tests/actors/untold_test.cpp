#include "actors/untold.hpp"

#include <catch2/catch.hpp>

namespace perigee {
namespace {

std::vector<int> next(const untold<int>& list) {
  return {list.part().begin(), list.part().end()};
}

TEST_CASE("all is told once, in its order, in parts that are not too long") {
  untold<int> list{2};
  CHECK(list.empty());
  for (int i : {5, 3, 9})
    list.add(i);
  CHECK(next(list) == std::vector{5, 3});
  CHECK(next(list) == std::vector{5, 3}); // it was not told yet
  list.told();
  list.add(4);
  CHECK(next(list) == std::vector{9, 4});
  list.told();
  CHECK(list.empty());
  list.told();
  CHECK(next(list).empty());
}

TEST_CASE("what nobody wants to know is forgotten") {
  untold<int> list{2};
  for (int i : {1, 2, 3})
    list.add(i);
  list.forget();
  CHECK(list.empty());
}

} // namespace
} // namespace perigee
