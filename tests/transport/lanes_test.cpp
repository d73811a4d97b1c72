#include "transport/lanes.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace perigee::transport {
namespace {

TEST_CASE("what is equally urgent goes in the order in which it came") {
  lanes<int> all;
  CHECK(all.empty());
  for (int item : {1, 2, 3})
    all.push(priority::normal, item);
  CHECK(all.pop() == 1);
  CHECK(all.pop() == 2);
  CHECK(all.pop() == 3);
  CHECK(all.pop() == std::nullopt);
}

TEST_CASE("a lane that has been passed over often enough goes next") {
  lanes<char> all;
  std::string order;
  all.push(priority::idle, 'i');
  all.push(priority::normal, 'n');
  for (int turn = 0; turn < 30; ++turn) {
    all.push(priority::urgent, 'u');
    order += *all.pop();
  }
  CHECK(order == "uuuuuuuuinuuuuuuuuuuuuuuuuuuuu");
}

} // namespace
} // namespace perigee::transport
