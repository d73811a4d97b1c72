#include "tests/lab/course.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::test {
namespace {

/// A course in which somebody dies.
void check_with_a_death(std::uint64_t course_seed) {
  dice roll{course_seed * 7919};
  small_cluster all{course_seed};
  auto kill = 1 + roll.below(4000);
  auto done = run(all, course_seed, kill);
  INFO("seed " << course_seed << ": " << done.killed << " before message " << kill);
  check_conservation(all, done);
}

TEST_CASE("whoever dies, every request has one end and nothing stays behind") {
  FOR_EVERY_CLUSTER_SEED(seed);
  check_with_a_death(seed);
}

TEST_CASE("over shards that are small and have disks below, too") {
  FOR_EVERY_CLUSTER_SEED(seed);
  dice roll{seed * 104729};
  small_cluster all{seed, {.shard_blocks = 12, .ssd_blocks = 40}};
  auto kill = 1 + roll.below(4000);
  auto done = run(all, seed, kill);
  INFO("seed " << seed << ": " << done.killed << " before message " << kill);
  check_conservation(all, done);
}

TEST_CASE("the same, a thousand times, by hand", "[.thousand]") {
  for (std::uint64_t seed = 1000; seed < 2000; ++seed)
    check_with_a_death(seed);
}

TEST_CASE("one seed, one course of a whole cluster") {
  auto value = [](std::uint64_t seed) {
    small_cluster all{seed};
    run(all, seed, 500);
    return all.bench().record().value();
  };
  for (std::uint64_t seed : {1, 2, 3})
    CHECK(value(seed) == value(seed));
}

} // namespace
} // namespace perigee::test
