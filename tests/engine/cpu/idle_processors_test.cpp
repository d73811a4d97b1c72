#include "engine/cpu/idle_processors.hpp"

#include <catch2/catch.hpp>

namespace perigee::engine::cpu {
namespace {

using processors = std::vector<std::size_t>;

TEST_CASE("processors are idle that were so nine tenths of the time") {
  auto before = "cpu  40 0 0 400 0 0 0 0 0 0\n"
                "cpu0 10 0 0 100 0 0 0 0 0 0\n"
                "cpu1 10 0 0 100 0 0 0 0 0 0\n"
                "cpu2 10 0 0 100 0 0 0 0 0 0\n"
                "cpu11 10 0 0 100 50 0 0 0 0 0\n"
                "intr 12345 0 1\n";
  auto after = "cpu  0 0 0 0 0 0 0 0 0 0\n"
               "cpu0 11 0 0 109 0 0 0 0 0 0\n"   // nine tenths
               "cpu1 12 0 0 108 0 0 0 0 0 0\n"   // less
               "cpu2 10 0 0 109 0 0 0 1 0 0\n"   // one tick went to another machine
               "cpu11 10 0 0 100 55 0 0 0 0 0\n" // waiting for a disk is idle
               "ctxt 99\n";
  CHECK(idle_between(before, after) == processors{0, 2, 11});
}

TEST_CASE("a processor that came, or whose time stood still, is not called idle") {
  CHECK(
    idle_between("cpu0 1 0 0 1 0 0 0 0", "cpu0 1 0 0 1 0 0 0 0\ncpu1 0 0 0 9 0 0 0 0")
    == processors{});
  CHECK(idle_between("", "") == processors{});
  CHECK(idle_between("cpu0 x", "cpu0 1 2 y\ncpux 1 2 3 4") == processors{});
}

} // namespace
} // namespace perigee::engine::cpu
