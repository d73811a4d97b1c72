#include "tests/actors/prefill_group/serving_bench.hpp"

namespace perigee::test {
namespace {

using schema::End;

TEST_CASE("a request is computed, handed over and answered to its last token") {
  FOR_EVERY_SEED(seed);
  serving_bench all{seed};
  auto request = all.ask({.prompt = prompt_of(37, 1), .tokens_max = 8});
  all.bench.advance(10s);
  const auto& got = all.heard[request];
  CHECK(got.said == all.expected(request));
  CHECK(got.said.size() == 8);
  CHECK(got.end == End::LENGTH);
  all.check_conservation();
}

} // namespace
} // namespace perigee::test
