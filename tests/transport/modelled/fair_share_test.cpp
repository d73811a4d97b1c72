#include "transport/modelled/fair_share.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace perigee::transport {
namespace {

using rates = std::vector<double>;

rates share(std::vector<double> capacities, std::vector<flow_path> flows) {
  return fair_share(capacities, flows);
}

TEST_CASE("one flow gets the narrowest of its links") {
  CHECK(share({10, 4, 8}, {{0, 1, 2}}) == rates{4});
}

TEST_CASE("flows over one link get equal parts") {
  CHECK(share({12}, {{0}, {0}, {0}}) == rates{4, 4, 4});
}

TEST_CASE("what one flow cannot use, others have") {
  // The second is held to 2 by its receiver: the first has what it leaves.
  CHECK(share({10, 2}, {{0}, {0, 1}}) == rates{8, 2});
}

TEST_CASE("a flow is held back where it has least, not where most share") {
  // Links: two senders of 10, one receiver of 12, and one of 3.
  CHECK(share({10, 10, 12, 3}, {{0, 2}, {1, 2}, {0, 3}}) == rates{6, 6, 3});
}

TEST_CASE("a flow over no link is not held back") {
  CHECK(share({1}, {{}, {0}}) == rates{std::numeric_limits<double>::infinity(), 1});
}

TEST_CASE("no flows, no rates") {
  CHECK(share({1, 2}, {}).empty());
}

} // namespace
} // namespace perigee::transport
