#include "tests/lab/course.hpp"
#include "tests/lab/seeds.hpp"

namespace perigee::test {
namespace {

TEST_CASE("every nanosecond of a request is in one of its stages") {
  FOR_EVERY_CLUSTER_SEED(seed);
  small_cluster all{seed};
  auto done = run(all, seed);
  auto compared = 0;
  for (const auto& [stream, asked] : done.asked) {
    const auto& answer = all.clients().answers.at(stream);
    if (!answer.last || answer.withdrawn)
      continue;
    INFO("stream " << stream << ' ' << to_json(*answer.last));
    CHECK(answer.last->total() == answer.ended_at - answer.asked_at);
    if (!answer.first)
      continue; // its first token was its end
    CHECK(answer.first->total() == answer.first_at - answer.asked_at);
    ++compared;
  }
  CHECK(compared > 0);
}

} // namespace
} // namespace perigee::test
