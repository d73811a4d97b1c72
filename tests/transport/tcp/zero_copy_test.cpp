#include "transport/tcp/zero_copy.hpp"

#include <catch2/catch.hpp>

namespace perigee::transport::tcp {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t large = 100'000;

/// Sends as long as it is tried; sends that are kept and those that are copied take so
/// long.
zero_copy_trial tried(nanoseconds kept, nanoseconds copied, nanoseconds completion) {
  zero_copy_trial made{true};
  for (int i = 0; i < 2 * zero_copy_trial::sends_each_way && made.is_on(); ++i) {
    bool keeps = made.wants();
    made.sent(keeps, large, keeps ? kept : copied);
    if (keeps)
      made.completed(false, completion);
  }
  return made;
}

TEST_CASE("what costs less for a byte is kept to") {
  auto faster = tried(nanoseconds{5}, nanoseconds{10}, nanoseconds{1});
  CHECK(faster.is_on());
  CHECK(faster.wants());
  auto slower = tried(nanoseconds{5}, nanoseconds{10}, nanoseconds{6});
  CHECK_FALSE(slower.is_on());
  CHECK_FALSE(slower.wants());
}

TEST_CASE("where the kernel copies all the same it is not tried further") {
  zero_copy_trial trial{true};
  CHECK(trial.wants());
  trial.sent(true, large, nanoseconds{1});
  trial.completed(true, nanoseconds{1});
  CHECK_FALSE(trial.is_on());
  auto settled = tried(nanoseconds{5}, nanoseconds{10}, nanoseconds{1});
  settled.completed(true, nanoseconds{1}); // a path may change
  CHECK_FALSE(settled.is_on());
}

TEST_CASE("where it is not offered it is not tried") {
  zero_copy_trial trial{false};
  CHECK_FALSE(trial.is_on());
  CHECK_FALSE(trial.wants());
}

} // namespace
} // namespace perigee::transport::tcp
