#include "actors/decode_instance/guest_book.hpp"

#include <catch2/catch.hpp>

namespace perigee::decode {
namespace {

/// As if its hand-off had been accepted: a prompt of so many tokens, and its first one.
void accept(guest& one, std::uint32_t prompt_tokens) {
  one.handoff.emplace();
  one.answer.emplace(sequence::prompt{prompt_tokens, {}, {}}, 7, 100, 16);
}

TEST_CASE("a book has room for so many, and knows those who are in it") {
  guest_book book{2};
  auto* first = book.open(5);
  REQUIRE(first);
  CHECK(first->request == 5);
  CHECK(first->now == stage::expected);
  CHECK(book.open(5) == first);
  CHECK(book.open(6));
  CHECK_FALSE(book.open(7));
  CHECK(book.size() == 2);
  book.close(5);
  CHECK_FALSE(book.find(5));
  CHECK(book.open(7));
}

TEST_CASE("who comes back to a book has another owner number") {
  guest_book book{4};
  auto before = book.open(5)->owner;
  book.close(5);
  CHECK(book.open(5)->owner != before);
}

TEST_CASE("those at a stage are shown oldest first, whatever their numbers") {
  guest_book book{4};
  for (std::uint64_t request : {9, 3, 6})
    book.set_youngest(*book.open(request));
  book.open(1);
  for (std::uint64_t request : {9, 3, 6})
    book.at(request).now = stage::ready;
  std::vector<std::uint64_t> order;
  for (const auto* one : book.by_age(stage::ready))
    order.push_back(one->request);
  CHECK(order == std::vector<std::uint64_t>{9, 3, 6});
  CHECK(book.count_at(stage::ready) == 3);
  CHECK(book.count_at(stage::expected) == 1);
  CHECK(book.by_age(stage::parked).empty());
}

TEST_CASE("those count as load who are accepted and have not ended") {
  guest_book book{8};
  book.open(1); // only expected
  accept(*book.open(2), 30);
  book.at(2).now = stage::receiving;
  accept(*book.open(3), 50);
  book.at(3).now = stage::ready;
  book.at(3).began_at = moment{1};
  accept(*book.open(4), 70);
  book.at(4).now = stage::ending;
  CHECK(book.load(0).sequences == 2);
  CHECK(book.load(0).kv_tokens == 30 + 1 + 50 + 1); // once the step is taken
  auto all = book.sum(0);
  CHECK(all.sequences == 1);
  CHECK(all.waiting == 1);
  CHECK(all.kv_tokens == 30 + 50);
}

TEST_CASE("those in the running batch grow by a token a step, the others don't") {
  guest_book book{8};
  accept(*book.open(2), 30);
  book.at(2).now = stage::receiving;
  accept(*book.open(3), 50);
  book.at(3).now = stage::ready;
  auto first = book.set_batch({3});
  CHECK(first.sequences == 1);
  CHECK(first.kv_tokens == 50 + 1);
  book.at(3).answer->append(7); // whether it is known or not
  CHECK(book.load(4).kv_tokens == 30 + 1 + 50 + 4 + 1);
  CHECK(book.sum(4).kv_tokens == 30 + 50 + 4);
  book.set_batch({});
  CHECK(book.sum(4).kv_tokens == 30 + 50 + 1);
}

} // namespace
} // namespace perigee::decode
