#include "actors/gateway/draft_table.hpp"

#include "schemas/request.capnp.h"

#include <capnp/message.h>
#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

struct part {
  explicit part(std::uint32_t size)
    : tokens(words.initRoot<schema::Submit>().initTokens(size)) {}

  capnp::MallocMessageBuilder words;
  capnp::List<std::uint32_t>::Builder tokens;
};

TEST_CASE("parts are put together in order, and counted while they are here") {
  draft_table all;
  all.open(5);
  all.open(6);
  CHECK(all.add(5, 0, part{10}.tokens, 100) == draft_table::added::fits);
  CHECK(all.add(6, 0, part{3}.tokens, 100) == draft_table::added::fits);
  CHECK(all.add(5, 10, part{4}.tokens, 100) == draft_table::added::fits);
  CHECK(all.tokens_held() == 17);
  CHECK(all.take(5).size() == 14);
  CHECK(all.tokens_held() == 3);
  CHECK_FALSE(all.contains(5));
  CHECK(all.size() == 1);
}

TEST_CASE("a part that leaves a gap, or has no room, adds nothing") {
  draft_table all;
  all.open(5);
  CHECK(all.add(5, 1, part{10}.tokens, 100) == draft_table::added::gap);
  CHECK(all.add(5, 0, part{10}.tokens, 9) == draft_table::added::too_long);
  CHECK(all.tokens_held() == 0);
}

} // namespace
} // namespace perigee::gateway
