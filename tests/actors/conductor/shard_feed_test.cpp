#include "actors/conductor/shard_feed.hpp"

#include <catch2/catch.hpp>

namespace perigee::conductor {
namespace {

using namespace std::chrono_literals;

SCENARIO("a shard is followed from its first recount on") {
  GIVEN("a shard that was asked for a recount") {
    shard_feed feed{0s, 5s};
    THEN("news that come first are left to the recount") {
      CHECK(feed.on_news(7, 1ms) == verdict::ignore);
      CHECK_FALSE(feed.is_complete());
    }
    WHEN("the recount comes, in three parts") {
      CHECK(feed.on_recount(7, 0, false, 2ms) == verdict::replace);
      CHECK(feed.on_recount(7, 1, false, 2ms) == verdict::apply);
      CHECK_FALSE(feed.is_complete());
      CHECK(feed.on_recount(7, 2, true, 2ms) == verdict::apply);
      THEN("it is complete, and news are applied from there") {
        CHECK(feed.is_complete());
        CHECK(feed.on_news(8, 3ms) == verdict::apply);
        CHECK(feed.on_news(9, 3ms) == verdict::apply);
      }
      THEN("what the recount holds is not applied twice") {
        CHECK(feed.on_news(7, 3ms) == verdict::ignore);
        CHECK(feed.is_complete());
      }
      THEN("a gap asks for a recount, once") {
        CHECK(feed.on_news(9, 3ms) == verdict::recount);
        CHECK(feed.on_news(10, 3ms) == verdict::ignore);
        CHECK(feed.on_recount(10, 0, true, 4ms) == verdict::replace);
        CHECK(feed.on_news(11, 4ms) == verdict::apply);
      }
      THEN("a second recount, of an earlier question, is left") {
        CHECK(feed.on_recount(7, 0, true, 4ms) == verdict::ignore);
      }
    }
    WHEN("it holds nothing and says so") {
      CHECK(feed.on_recount(0, 0, true, 1ms) == verdict::replace);
      THEN("its first news are the first") {
        CHECK(feed.on_news(1, 2ms) == verdict::apply);
      }
    }
  }
}

SCENARIO("a recount with something missing is asked for again") {
  GIVEN("a recount of which the first part is here") {
    shard_feed feed{0s, 5s};
    feed.on_recount(7, 0, false, 1ms);
    THEN("a part too many is a gap") {
      CHECK(feed.on_recount(7, 2, true, 2ms) == verdict::recount);
      CHECK(feed.on_recount(7, 3, true, 2ms) == verdict::ignore);
    }
    THEN("a part of another recount is a gap") {
      CHECK(feed.on_recount(8, 1, true, 2ms) == verdict::recount);
    }
    THEN("news before its end are a gap") {
      CHECK(feed.on_news(8, 2ms) == verdict::recount);
    }
    THEN("another first part begins anew") {
      CHECK(feed.on_recount(9, 0, true, 2ms) == verdict::replace);
      CHECK(feed.is_complete());
    }
  }
}

SCENARIO("a recount that never comes is asked for again, not too often") {
  GIVEN("a shard that did not answer") {
    shard_feed feed{0s, 5s};
    THEN("its news ask again after a while, and wait again") {
      CHECK(feed.on_news(3, 4s) == verdict::ignore);
      CHECK(feed.on_news(4, 5s) == verdict::recount);
      CHECK(feed.on_news(5, 6s) == verdict::ignore);
      CHECK(feed.on_news(6, 10s) == verdict::recount);
    }
    THEN("whoever waits for it asks again, five times") {
      for (auto i = 1; i <= 5; ++i)
        CHECK(feed.on_late(i * 5s) == verdict::recount);
      CHECK(feed.on_late(30s) == verdict::ignore);
      AND_THEN("only its news do, later") {
        CHECK(feed.on_news(7, 40s) == verdict::recount);
      }
      AND_THEN("a recount that comes after all is good, and the next has five again") {
        CHECK(feed.on_recount(7, 0, true, 31s) == verdict::replace);
        CHECK(feed.on_late(32s) == verdict::ignore);
        CHECK(feed.on_news(9, 33s) == verdict::recount);
        CHECK(feed.on_late(38s) == verdict::recount);
      }
    }
  }
  GIVEN("a recount that stopped halfway") {
    shard_feed feed{0s, 5s};
    feed.on_recount(7, 0, false, 1s);
    THEN("it is asked for anew") {
      CHECK(feed.on_late(6s) == verdict::recount);
      CHECK(feed.on_recount(7, 1, true, 7s) == verdict::ignore);
      CHECK(feed.on_recount(7, 0, true, 8s) == verdict::replace);
    }
  }
}

} // namespace
} // namespace perigee::conductor
