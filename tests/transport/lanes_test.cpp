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

TEST_CASE("nobody is passed over while it is time for none") {
  lanes<char> all;
  std::string order;
  all.push(priority::idle, 'i');
  for (int turn = 0; turn < 12; ++turn) {
    all.push(priority::urgent, 'u');
    for (int wait = 0; wait < 20; ++wait)
      CHECK_FALSE(all.pop_if([](char) { return false; }));
    order += *all.pop_if([](char) { return true; });
  }
  CHECK(order == "uuuuuuuuiuuu");
}

TEST_CASE("who may not go holds nobody up, of its lane or another") {
  lanes<char> all;
  all.push(priority::urgent, 'w');
  all.push(priority::urgent, 'r');
  all.push(priority::idle, 'i');
  auto no_write = [](char one) { return one != 'w'; };
  CHECK(all.pop_if(no_write) == 'r');
  CHECK(all.pop_if(no_write) == 'i');
  CHECK(all.pop_if(no_write) == std::nullopt);
  CHECK(all.pop() == 'w');
}

} // namespace
} // namespace perigee::transport
