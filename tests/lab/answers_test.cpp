#include "tests/lab/course.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::test {
namespace {

TEST_CASE("every request is answered with the tokens of the model, wherever it runs") {
  FOR_EVERY_CLUSTER_SEED(seed);
  small_cluster all{seed};
  check_conservation(all, run(all, seed));
}

TEST_CASE("runs of many steps give the same answers as steps one by one") {
  FOR_EVERY_CLUSTER_SEED(seed);
  small_cluster all{seed, {.steps_max = 64}};
  check_conservation(all, run(all, seed));
}

} // namespace
} // namespace perigee::test
