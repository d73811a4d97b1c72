#include "journal/packing.hpp"

#include <capnp/message.h>
#include <capnp/serialize-packed.h>
#include <catch2/catch.hpp>
#include <kj/io.h>

#include <cstring>
#include <random>

namespace perigee::journal {
namespace {

using words = std::vector<capnp::word>;

words make(const std::vector<std::uint64_t>& values) {
  words all(values.size());
  if (!values.empty())
    std::memcpy(static_cast<void*>(all.data()), values.data(), values.size() * 8);
  return all;
}

bytes packed(const words& all) {
  bytes to;
  pack(all, to);
  return to;
}

void comes_back(const words& all) {
  auto small = packed(all);
  CHECK(small.size() <= 10 * all.size());
  words back(all.size());
  REQUIRE(unpack(small, back));
  CHECK((all.empty() || std::memcmp(all.data(), back.data(), all.size() * 8) == 0));
  words more(all.size() + 1);
  CHECK_FALSE(unpack(small, more));
  if (!all.empty()) {
    words fewer(all.size() - 1);
    CHECK_FALSE(unpack(small, fewer));
  }
}

TEST_CASE("words come back as they were, whatever they are") {
  comes_back(make({}));
  comes_back(make({0}));
  comes_back(make({1, 0, 0xff00, ~std::uint64_t{0}, 5}));
  comes_back(make(std::vector<std::uint64_t>(1000, 0)));
  comes_back(make(std::vector<std::uint64_t>(1000, ~std::uint64_t{0})));
  std::mt19937_64 dice{7};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> all(dice() % 700);
    for (auto& x : all)
      switch (dice() % 4) {
        case 0: x = 0; break;
        case 1: x = dice() >> (dice() % 64); break;
        case 2: x = dice() & 0x00ff00ff00ff00ff; break;
        default: x = dice();
      }
    comes_back(make(all));
  }
}

TEST_CASE("a thousand zeros take a few bytes") {
  CHECK(packed(make(std::vector<std::uint64_t>(1000, 0))).size() == 8);
}

TEST_CASE("packed words are what Cap'n Proto unpacks") {
  capnp::MallocMessageBuilder built;
  auto list
    = built.initRoot<capnp::AnyPointer>().initAs<capnp::List<std::uint64_t>>(40);
  for (unsigned i = 0; i < 40; ++i)
    list.set(i, i < 20 ? i * 0x0101010101010101 : 0);
  auto flat = capnp::messageToFlatArray(built);
  bytes small;
  pack({flat.begin(), flat.size()}, small);
  kj::ArrayInputStream in{
    kj::arrayPtr(reinterpret_cast<const kj::byte*>(small.data()), small.size())};
  capnp::PackedMessageReader reader{in};
  auto back = reader.getRoot<capnp::AnyPointer>().getAs<capnp::List<std::uint64_t>>();
  REQUIRE(back.size() == 40);
  CHECK(back[19] == 19 * 0x0101010101010101);
  CHECK(back[39] == 0);
}

TEST_CASE("bytes that are no packed words are refused, and nothing is read past them") {
  std::mt19937_64 dice{11};
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    bytes small(dice() % 40);
    for (auto& x : small)
      x = static_cast<std::byte>(dice());
    words back(1 + dice() % 8);
    accepted += unpack(small, back);
  }
  CHECK(accepted < 1000);
  words one(1);
  CHECK_FALSE(unpack({}, one));
}

} // namespace
} // namespace perigee::journal
