#include "actors/decode_instance/sequence.hpp"

#include <catch2/catch.hpp>

namespace perigee::decode {
namespace {

using tokens = std::vector<std::uint32_t>;

constexpr block_key parent{3, 4};

sequence after_prompt(std::uint32_t prompt_tokens, tokens tail,
                      std::uint32_t tokens_max = 100) {
  return {{prompt_tokens, std::move(tail), parent}, 1000, tokens_max, 4};
}

TEST_CASE("the last token is what a step feeds, behind all others") {
  auto one = after_prompt(9, {8});
  CHECK(one.next_token() == 1000);
  CHECK(one.next_position() == 9);
  CHECK(one.kv_tokens() == 9);
  one.append(1001);
  CHECK(one.next_token() == 1001);
  CHECK(one.next_position() == 10);
}

TEST_CASE("as many tokens are left as were wanted and are not there") {
  auto one = after_prompt(9, {8}, 3);
  CHECK(one.steps_left() == 2);
  one.append(1001);
  one.append(1002);
  CHECK(one.steps_left() == 0);
}

TEST_CASE("a table grows when a step reaches the next block") {
  auto one = after_prompt(7, {5, 6, 7});
  CHECK(one.blocks_after(0) == 2);
  CHECK(one.blocks_after(1) == 2);
  CHECK(one.blocks_after(2) == 3);
}

TEST_CASE("an answer's full blocks continue the prompt's chain") {
  auto one = after_prompt(6, {4, 5});
  CHECK(one.full_blocks().keys.empty());
  for (std::uint32_t token = 1001; token <= 1007; ++token)
    one.append(token);
  auto own = one.full_blocks(); // the last token has no KV
  CHECK(own.first == 1);
  CHECK(own.parent == parent);
  CHECK(own.keys
        == keys_of(parent, tokens{4, 5, 1000, 1001, 1002, 1003, 1004, 1005}, 4));
  CHECK(own.keys.size() == 2);
}

TEST_CASE("a prompt that fills its blocks leaves the answer blocks of its own") {
  auto one = after_prompt(8, {});
  for (std::uint32_t token = 1001; token <= 1004; ++token)
    one.append(token);
  auto own = one.full_blocks();
  CHECK(own.first == 2);
  CHECK(own.keys == keys_of(parent, tokens{1000, 1001, 1002, 1003}, 4));
}

} // namespace
} // namespace perigee::decode
