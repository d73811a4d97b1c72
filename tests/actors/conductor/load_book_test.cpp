#include "actors/conductor/load_book.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace perigee::conductor {
namespace {

using namespace std::chrono_literals;

constexpr group_id g0{node_index{0}, 0}, g1{node_index{1}, 0};
constexpr instance_id d0{node_index{0}, 0}, d1{node_index{1}, 0};
constexpr request_id r1{1}, r2{2}, r3{3};

load_book a_book(load_book::options how = {}) {
  load_book book{how};
  book.seat(g0, 0s);
  book.seat(g1, 0s);
  book.seat(d0, 0s);
  book.seat(d1, 0s);
  return book;
}

/// Takes a second and 1,000 tokens to compute.
placement at(request_id request, group_id group = g0, instance_id instance = d0) {
  return {.request = request,
          .prefill = group,
          .decode = instance,
          .prefill_time = 1s,
          .uncached_tokens = 1000,
          .prompt_tokens = 1200,
          .arrives_at = 12s,
          .expires_at = 100s};
}

nanoseconds queued(const load_book& book, moment now, group_id group = g0) {
  return book.all().prefills.at(group).queued(now);
}

const decode_line& line(const load_book& book, instance_id instance = d0) {
  return book.all().decodes.at(instance);
}

struct decode_words {
  std::vector<request_id> began;
  std::vector<decode_report::end> ended;
};

void hear(load_book& book, std::uint32_t sequences, const decode_words& words,
          moment now, instance_id who = d0) {
  book.hear(who,
            {.sequences = sequences,
             .kv_tokens = sequences * std::uint64_t{1000},
             .blocks_free = 7,
             .began = words.began,
             .ended = words.ended},
            now);
}

void hear(load_book& book, std::uint32_t requests, std::uint64_t tokens,
          const std::vector<request_id>& ended, moment now, group_id who = g0) {
  book.hear(who, {.requests = requests, .queued_tokens = tokens, .ended = ended}, now);
}

SCENARIO("a request counts where it is placed, at once") {
  GIVEN("a book with two of each") {
    auto book = a_book();
    WHEN("two requests are placed with one group") {
      REQUIRE(book.place(at(r1), 10s));
      REQUIRE(book.place(at(r2), 10s));
      THEN("the next one would wait for both, and less as time goes by") {
        CHECK(queued(book, 10s) == 2s);
        CHECK(queued(book, 10500ms) == 1500ms);
        CHECK(queued(book, 20s) == 0s);
        CHECK(book.all().prefills.at(g0).waiting == 2);
        CHECK(queued(book, 10s, g1) == 0s);
      }
      THEN("they are expected at their instance") {
        CHECK(line(book).coming
              == std::vector<arrival>{{12s, r1, 1200}, {12s, r2, 1200}});
        CHECK(line(book, d1).coming.empty());
      }
      AND_WHEN("one is cancelled") {
        CHECK(book.end(r1, 10500ms));
        THEN("its work is not ahead of anybody any more") {
          CHECK(queued(book, 10500ms) == 500ms);
          CHECK(line(book).coming.size() == 1);
          CHECK_FALSE(book.end(r1, 10500ms));
        }
      }
      AND_WHEN("both are cancelled") {
        book.end(r1, 11s);
        book.end(r2, 11s);
        THEN("nothing is left") {
          CHECK(queued(book, 11s) == 0s);
          CHECK(book.size() == 0);
          CHECK_FALSE(book.next_expiry());
        }
      }
    }
    THEN("a request is not placed twice, nor with one who is not there") {
      REQUIRE(book.place(at(r1), 10s));
      CHECK_FALSE(book.place(at(r1, g1), 10s));
      CHECK_FALSE(book.place(at(r2, {node_index{9}, 0}), 10s));
      CHECK_FALSE(book.place(at(r2, g0, {node_index{9}, 0}), 10s));
      CHECK(book.size() == 1);
    }
  }
  GIVEN("a book that is full") {
    auto book = a_book({.requests_max = 1});
    REQUIRE(book.place(at(r1), 0s));
    THEN("it takes no more") {
      CHECK_FALSE(book.place(at(r2), 0s));
      book.end(r1, 0s);
      CHECK(book.place(at(r2), 0s));
    }
  }
}

SCENARIO("a group's reports correct what was predicted of it") {
  GIVEN("two requests at a group") {
    auto book = a_book();
    REQUIRE(book.place(at(r1), 10s));
    REQUIRE(book.place(at(r2), 10s));
    WHEN("it is slower than was thought") {
      hear(book, 2, 2000, {}, 11s);
      THEN("all is still to be done") {
        CHECK(queued(book, 11s) == 2s);
      }
    }
    WHEN("it has done more than was thought") {
      hear(book, 2, 500, {}, 10100ms);
      THEN("little is left") {
        CHECK(queued(book, 10100ms) == 500ms);
      }
    }
    WHEN("it did not know of the second yet") {
      hear(book, 1, 400, {}, 10600ms);
      THEN("the second still counts in full") {
        CHECK(queued(book, 10600ms) == 400ms + 1s);
      }
    }
    WHEN("it has handed the first off") {
      hear(book, 1, 1000, {r1}, 11s);
      THEN("that one waits no more, and is expected at its instance now") {
        CHECK(queued(book, 11s) == 1s);
        CHECK(book.all().prefills.at(g0).waiting == 1);
        CHECK(line(book).coming.front() == arrival{11s, r1, 1200});
      }
    }
    WHEN("another group claims to have ended one") {
      hear(book, 0, 0, {r1}, 11s, g1);
      THEN("it is not believed") {
        CHECK(book.all().prefills.at(g0).waiting == 2);
      }
    }
  }
}

SCENARIO("a request decodes from when its instance says so") {
  GIVEN("a request that was handed off") {
    auto book = a_book();
    REQUIRE(book.place(at(r1), 10s));
    hear(book, 0, 0, {r1}, 11s);
    WHEN("its instance accepts it") {
      hear(book, 1, {.began = {r1}, .ended = {}}, 11100ms);
      THEN("it decodes, and comes no more") {
        CHECK(line(book).coming.empty());
        CHECK(line(book).began == std::vector<moment>{11100ms});
        CHECK(line(book).kv_tokens == 1000);
        CHECK(line(book).blocks_free == 7u);
      }
      AND_WHEN("it ends") {
        hear(book, 0, {.began = {}, .ended = {{r1, 4s}}}, 15100ms);
        THEN("the book is empty, and knows how long decoding takes") {
          CHECK(line(book).began.empty());
          CHECK(book.size() == 0);
          CHECK(book.all().decode_time == 4s);
        }
      }
      AND_WHEN("another instance says that it has ended") {
        hear(book, 0, {.began = {}, .ended = {{r1, 0s}}}, 12s, d1);
        THEN("it is not believed") {
          CHECK(book.size() == 1);
        }
      }
    }
    WHEN("its instance refuses it") {
      hear(book, 0, {.began = {}, .ended = {{r1, 0s}}}, 11100ms);
      THEN("it is gone, and has taught nothing of decode times") {
        CHECK(book.size() == 0);
        CHECK(book.all().decode_time == 10s);
      }
    }
    WHEN("its instance never speaks of it") {
      THEN("it is expected no longer than a hand-off may take") {
        CHECK(book.next_expiry() == 16s);
        CHECK(book.expire(15s) == 0);
        CHECK(book.expire(16s) == 1);
        CHECK(line(book).coming.empty());
      }
    }
  }
  GIVEN("a request of which the instance speaks before the group does") {
    auto book = a_book();
    REQUIRE(book.place(at(r1), 10s));
    hear(book, 1, {.began = {r1}, .ended = {}}, 11s);
    THEN("it has left the group") {
      CHECK(book.all().prefills.at(g0).waiting == 0);
      hear(book, 0, 0, {r1}, 11s);
      CHECK(line(book).began.size() == 1);
      CHECK(book.next_expiry() == 100s);
    }
  }
  GIVEN("a request for one token") {
    auto book = a_book();
    auto one = at(r1);
    one.decodes = false;
    REQUIRE(book.place(one, 10s));
    THEN("no instance expects it, and it ends with its prefill") {
      CHECK(line(book).coming.empty());
      hear(book, 0, 0, {r1}, 11s);
      CHECK(book.size() == 0);
    }
  }
}

SCENARIO("an instance has the last word on how many decode there") {
  GIVEN("an instance with requests that an earlier conductor placed") {
    auto book = a_book();
    hear(book, 3, {}, 10s);
    THEN("they count from when they were heard of") {
      CHECK(line(book).began == std::vector<moment>{10s, 10s, 10s});
    }
    WHEN("one of ours joins them, and two of them end") {
      REQUIRE(book.place(at(r1), 10s));
      hear(book, 2, {.began = {r1}, .ended = {{r2, 1s}, {r3, 1s}}}, 12s);
      THEN("the count is right") {
        CHECK(line(book).began == std::vector<moment>{10s, 12s});
      }
    }
  }
}

SCENARIO("a group's work that was not placed here counts by its tokens") {
  GIVEN("a book that knows what a token takes") {
    auto book = a_book({.prefill_token_ns = 1e6});
    WHEN("a group speaks of requests that the book doesn't know") {
      hear(book, 2, 3000, {}, 10s);
      THEN("a newcomer would wait for them") {
        CHECK(queued(book, 10s) == 3s);
      }
    }
  }
}

SCENARIO("what a lost one held is forgotten with it") {
  GIVEN("requests at two groups, on their way to one instance") {
    auto book = a_book();
    REQUIRE(book.place(at(r1, g0), 10s));
    REQUIRE(book.place(at(r2, g1), 10s));
    WHEN("a group is lost") {
      CHECK(book.lose(g0, 10s) == 1);
      THEN("its request is expected nowhere") {
        CHECK(line(book).coming.size() == 1);
        CHECK_FALSE(book.all().prefills.contains(g0));
        CHECK(book.size() == 1);
      }
    }
    WHEN("a group is lost that has handed its request off") {
      hear(book, 0, 0, {r1}, 11s);
      THEN("that one lives on") {
        CHECK(book.lose(g0, 11s) == 0);
        CHECK(book.size() == 2);
      }
    }
    WHEN("the instance is lost") {
      CHECK(book.lose(d0, 10s) == 2);
      THEN("the groups have nothing to do") {
        CHECK(queued(book, 10s) == 0s);
        CHECK(queued(book, 10s, g1) == 0s);
        CHECK(book.size() == 0);
      }
      AND_WHEN("its successor is seated") {
        book.seat(d0, 11s);
        THEN("it begins empty") {
          CHECK(line(book).began.empty());
          CHECK(book.place(at(r3), 11s));
        }
      }
    }
  }
}

SCENARIO("the decode time follows what is observed") {
  GIVEN("a book that has seen requests of two seconds") {
    auto book = a_book();
    for (int i = 0; i < 100; ++i)
      hear(book, 0, {.began = {}, .ended = {{r1, 2s}}}, 1s);
    CHECK(book.all().decode_time == 2s);
    WHEN("they take ten from now on") {
      for (int i = 0; i < 10; ++i)
        hear(book, 0, {.began = {}, .ended = {{r1, 10s}}}, 1s);
      THEN("the average is on its way there") {
        CHECK(book.all().decode_time > 3s);
        CHECK(book.all().decode_time < 6s);
      }
    }
  }
}

// Reports may be lost, late, or wrong: the book must not leak, and must add up.
SCENARIO("whatever it hears, a book adds up, and in the end is empty") {
  GIVEN("a book, and reports at random") {
    std::mt19937_64 random{static_cast<std::uint64_t>(GENERATE(range(1, 31)))};
    auto book = a_book({.requests_max = 50});
    moment now{};
    for (std::uint64_t i = 0; i < 3000; ++i) {
      now += std::chrono::milliseconds{random() % 50};
      request_id some{random() % 80};
      auto group = random() % 2 ? g0 : g1;
      auto instance = random() % 2 ? d0 : d1;
      switch (random() % 8) {
        case 0: hear(book, random() % 9, random() % 9000, {some}, now, group); break;
        case 1:
          hear(book, random() % 9, {.began = {some}, .ended = {}}, now, instance);
          break;
        case 2:
          hear(book, random() % 9, {.began = {}, .ended = {{some, 1s}}}, now, instance);
          break;
        case 3: book.end(some, now); break;
        case 4:
          if (random() % 20 == 0)
            book.seat(group, now);
          if (random() % 20 == 0)
            book.seat(instance, now);
          break;
        case 5: book.expire(now); break;
        default: {
          auto one = at(some, group, instance);
          one.arrives_at = now + std::chrono::milliseconds{random() % 3000};
          one.expires_at = now + std::chrono::milliseconds{random() % 20'000};
          one.decodes = random() % 8 > 0;
          (void)book.place(one, now);
        }
      }
      std::size_t waiting = 0, coming = 0;
      for (const auto& [who, one] : book.all().prefills) {
        waiting += one.waiting;
        REQUIRE(one.queued(now) >= 0s);
      }
      for (const auto& [who, one] : book.all().decodes) {
        coming += one.coming.size();
        REQUIRE(std::is_sorted(one.began.begin(), one.began.end()));
        REQUIRE(std::is_sorted(one.coming.begin(), one.coming.end()));
      }
      REQUIRE(waiting <= book.size());
      REQUIRE(coming <= book.size());
      REQUIRE(book.size() <= 50);
    }
    WHEN("the last client has given up") {
      book.expire(now + 20s);
      THEN("nothing is left") {
        CHECK(book.size() == 0);
        CHECK_FALSE(book.next_expiry());
        for (const auto& [who, one] : book.all().prefills)
          CHECK(one.waiting == 0);
        for (const auto& [who, one] : book.all().decodes)
          CHECK(one.coming.empty());
      }
    }
  }
}

} // namespace
} // namespace perigee::conductor
