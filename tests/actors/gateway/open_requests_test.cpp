#include "actors/gateway/open_requests.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

open_request of_stream(std::uint64_t stream, std::size_t tokens) {
  open_request one;
  one.stream = stream;
  one.tokens.assign(tokens, 1);
  return one;
}

TEST_CASE("every attempt has a number of its own, after the one that was given") {
  open_requests all{100};
  CHECK(all.open(of_stream(5, 10)).first == 101);
  CHECK(all.open(of_stream(6, 10)).first == 102);
  CHECK(all.number_of(6) == 102);
  CHECK(all.find(101)->second.stream == 5);
  auto again = all.take(101);
  CHECK_FALSE(all.number_of(5));
  CHECK(all.find(101) == nullptr);
  auto reopened = all.open(std::move(again)).first;
  CHECK(reopened == 103);
  CHECK(all.number_of(5) == 103);
}

TEST_CASE("a prompt is kept, and counted, until its answer begins") {
  open_requests all{0};
  auto& first = all.open(of_stream(5, 10)).second;
  all.open(of_stream(6, 7));
  CHECK(all.prompt_tokens() == 17);
  CHECK(all.waiting() == 2);
  all.run(first);
  all.run(first); // a later token
  CHECK(first.tokens.empty());
  CHECK(all.prompt_tokens() == 7);
  CHECK(all.waiting() == 1);
  CHECK(all.running() == 1);
}

TEST_CASE("whatever is taken out counts no more") {
  open_requests all{0};
  auto& first = all.open(of_stream(5, 10)).second;
  all.open(of_stream(6, 7));
  all.run(first);
  CHECK(all.take(2).tokens.size() == 7); // to be placed again
  CHECK(all.prompt_tokens() == 0);
  CHECK(all.running() == 1);
  CHECK(all.take(1).tokens.empty());
  CHECK(all.running() == 0);
  CHECK(all.size() == 0);
}

TEST_CASE("those that are looked for come in the order of their numbers") {
  open_requests all{0};
  for (std::uint64_t stream : {9, 3, 7})
    all.open(of_stream(stream, stream));
  auto found
    = all.numbers_where([](const open_request& one) { return one.stream > 3; });
  CHECK(found == std::vector<std::uint64_t>{1, 3});
}

} // namespace
} // namespace perigee::gateway
