/// \file
/// course: what a cluster in the lab goes through, from one seed, and what must be true
/// of it at the end.
#pragma once

#include "tests/lab/small_cluster.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace perigee::test {

/// Numbers of a seed, one after the other.
class dice {
public:
  explicit dice(std::uint64_t seed) : roll_(seed) {}

  std::uint64_t below(std::uint64_t n) {
    return roll_() % n;
  }

private:
  std::mt19937_64 roll_;
};

/// What was asked, and who was killed.
struct course {
  std::vector<std::pair<std::uint64_t, question>> asked; // by stream
  std::string killed;
};

/// Questions come at random moments; some of their clients go again. If `kill` is set,
/// an actor dies before the `kill`-th message is handled.
course run(small_cluster& all, std::uint64_t seed, std::uint64_t kill = 0);

/// Conservation: each request reached exactly one end, what was answered is what the
/// model says, and nobody holds anything.
void check_conservation(small_cluster& all, const course& done);

} // namespace perigee::test
