#include "actors/conductor/words.hpp"

#include "actors/span_of.hpp"
#include "schemas/fault.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <catch2/catch.hpp>

#include <limits>

namespace perigee::conductor {
namespace {

using namespace std::chrono_literals;

constexpr decode_cost cost{10e6, 1e6, 0};

/// What arrives, at `then`, of what is said `now`.
loads told(const loads& all, moment now, moment then) {
  capnp::MallocMessageBuilder message;
  set_book(message.initRoot<schema::Book>(), all, cost, now);
  auto flat = capnp::messageToFlatArray(message);
  CHECK_FALSE(perigee::find_fault<schema::Book>({flat.begin(), flat.size()}));
  CHECK(flat.size() < message_words_max);
  return to_loads(message.getRoot<schema::Book>(), then);
}

TEST_CASE("a book says the same to who reads it by another clock") {
  loads all;
  all.decode_time = 9s;
  all.prefills[{node_index{1}, 2}] = {.free_at = 105s, .waiting = 3};
  all.prefills[{node_index{2}, 0}] = {.free_at = 7s, .waiting = 0};
  all.decodes[{node_index{3}, 1}]
    = {.kv_tokens = 900,
       .began = {91s, 95s},
       .coming = {{98s, request_id{7}, 50}, {104s, request_id{8}, 60}},
       .blocks_free = 5};
  auto copy = told(all, 100s, 1000s);
  CHECK(copy.decode_time == 9s);
  CHECK(copy.prefills.at({node_index{1}, 2}).queued(1000s) == 5s);
  CHECK(copy.prefills.at({node_index{1}, 2}).waiting == 3);
  CHECK(copy.prefills.at({node_index{2}, 0}).queued(1000s) == 0s);
  const auto& line = copy.decodes.at({node_index{3}, 1});
  for (auto later : {0s, 1s, 4s, 5s, 9s, 13s, 20s})
    CHECK(batch_at(line, 1000s, 1000s + later, 9s)
          == batch_at(all.decodes.begin()->second, 100s, 100s + later, 9s));
}

TEST_CASE(
  "a book of a cluster too large for a message tells what fits, and the counts") {
  loads all;
  decode_line line;
  line.began.assign(5000, 1s);
  for (std::uint64_t i = 0; i < 5000; ++i)
    line.coming.push_back({2s, request_id{i}, 10});
  for (std::uint32_t i = 0; i < 9000; ++i) {
    all.prefills[{node_index{i}, 0}] = {};
    all.decodes[{node_index{i}, 0}] = i < 100 ? line : decode_line{};
  }
  auto copy = told(all, 1s, 1s);
  CHECK(copy.prefills.size() == 8192);
  CHECK(copy.decodes.size() == 8192);
  CHECK(batch_at(copy.decodes.begin()->second, 1s, 1s, 1s).sequences == 5000);
}

TEST_CASE("a book that says nonsense gives some loads") {
  capnp::MallocMessageBuilder message;
  auto book = message.initRoot<schema::Book>();
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  book.setDecodeTimeNs(most);
  auto group = book.initPrefills(1)[0];
  group.setUp(true);
  group.setQueuedNs(most);
  auto decodes = book.initDecodes(2);
  decodes[0].setUp(true);
  decodes[0].setSequences(std::numeric_limits<std::uint32_t>::max());
  decodes[0].initElapsed(1).set(0, most);
  decodes[0].initComing(1)[0].setInNs(most);
  auto copy = to_loads(book, 1s);
  CHECK(copy.decodes.size() == 1); // the other is not up
  CHECK(prefill_load(copy, 1s, 1ns) > 1);
  CHECK(decode_load(copy, cost, 1s, 2s, 1ns) >= 0);
  CHECK(copy.decodes.begin()->second.began.size() <= 65536);
}

TEST_CASE("a refusal keeps its figures in words") {
  capnp::MallocMessageBuilder message;
  auto said = message.initRoot<schema::Refusal>();
  set_refusal(said, {reason::decode_load, 1.5, 3s});
  CHECK(said.getWhy() == schema::Refusal::Reason::DECODE_LOAD);
  CHECK(said.getLoad() == 1.5);
  CHECK(span_of(said.getRetryAfterNs()) == 3s);
}

} // namespace
} // namespace perigee::conductor
