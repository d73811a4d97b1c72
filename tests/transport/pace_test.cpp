#include "transport/pace.hpp"

#include <catch2/catch.hpp>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;

constexpr pace::moment start{1h};

TEST_CASE("without a rate everything may go, in pieces as large as they may be") {
  pace free;
  free.took(~std::uint64_t{0}, start);
  CHECK(free.is_free(start));
  CHECK(free.piece_bytes(1 << 20) == 1 << 20);
}

TEST_CASE("the next piece waits for as long as the last ought to take") {
  pace slow{1000};
  CHECK(slow.is_free(start));
  slow.took(500, start);
  CHECK_FALSE(slow.is_free(start));
  CHECK(slow.free_at() == start + 500ms - pace::slack);
  CHECK(slow.is_free(slow.free_at()));
}

TEST_CASE("who comes late makes up for a little, and who pauses for no more") {
  pace slow{1000};
  slow.took(1000, start);
  slow.took(1000, start + 1s);
  CHECK(slow.free_at() == start + 2s - pace::slack);
  slow.took(1000, start + 1min);
  CHECK(slow.free_at() == start + 1min + 1s - pace::slack);
}

TEST_CASE("pieces are so small that a hundred go in a second, but not tiny") {
  CHECK(pace{std::uint64_t{10} << 20}.piece_bytes(1 << 20) == (10 << 20) / 100);
  CHECK(pace{1}.piece_bytes(1 << 20) == 4096);
  CHECK(pace{std::uint64_t{1} << 40}.piece_bytes(1 << 20) == 1 << 20);
}

TEST_CASE("no rate and no size make a piece wait beyond reason") {
  pace slow{1};
  slow.took(~std::uint64_t{0}, start);
  CHECK(slow.free_at() <= start + 1h);
}

} // namespace
} // namespace perigee::transport
