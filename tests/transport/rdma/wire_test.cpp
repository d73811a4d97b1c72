#include "transport/rdma/wire.hpp"

#include <catch2/catch.hpp>

#include <random>

namespace perigee::transport::rdma {
namespace {

std::vector<message> one_of_each() {
  ticket shown;
  shown.secret.fill(std::byte{7});
  std::vector<port_address> ports(2, {.lid = 3, .mtu = IBV_MTU_4096, .reads_max = 16});
  ports[1].gid.fill(9);
  say::path_life life{1, 0x01020304};
  return {say::hello{shown, ports},
          say::welcome{ports},
          say::fresh{life, {0xabcdef, 0x123456}},
          say::ready{life},
          say::ended{life, true},
          say::want{segment_id{5}},
          say::keys{life, segment_id{5}, 8, 1u << 20, 4096, {1, 2, 0xffffffff}},
          say::denied{segment_id{6}},
          say::revoked{segment_id{7}}};
}

TEST_CASE("what is said is heard") {
  for (const auto& said : one_of_each()) {
    auto bytes = encode(said);
    auto heard = decode(bytes);
    REQUIRE(heard.what);
    CHECK(heard.bytes == bytes.size());
    CHECK(heard.what->index() == said.index());
    CHECK(encode(*heard.what) == bytes);
  }
}

TEST_CASE("half a message is none yet, and what follows one stays") {
  for (const auto& said : one_of_each()) {
    auto bytes = encode(said);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      auto heard = decode(std::span{bytes}.first(size));
      CHECK(heard.sound);
      CHECK_FALSE(heard.what);
      CHECK(heard.bytes == 0);
    }
    auto whole = bytes.size();
    bytes.push_back(std::byte{1});
    CHECK(decode(bytes).bytes == whole);
  }
}

TEST_CASE("what is no message, or too long, is found out") {
  auto sound_with = [](std::size_t at, std::byte value, const message& said) {
    auto bytes = encode(said);
    bytes.at(at) = value;
    return decode(bytes).sound;
  };
  CHECK_FALSE(sound_with(4, std::byte{9}, say::want{}));      // no such kind
  CHECK_FALSE(sound_with(3, std::byte{1}, say::want{}));      // 16 MiB
  CHECK_FALSE(sound_with(0, std::byte{7}, say::want{}));      // a byte too few
  CHECK_FALSE(sound_with(5, std::byte{0}, one_of_each()[0])); // not ours
  CHECK_FALSE(sound_with(10, std::byte{2}, say::ended{}));    // neither yes nor no
  CHECK_FALSE(decode(encode(say::welcome{})).sound);          // no devices
  CHECK_FALSE(decode(encode(say::keys{})).sound);             // no keys
  CHECK_FALSE(decode(encode(say::fresh{{}, {0x1000000, 0}})).sound);
}

TEST_CASE("whatever comes, decoding ends, and takes no more than was there") {
  std::mt19937 random{1};
  auto all = one_of_each();
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = encode(all[random() % all.size()]);
    for (auto changes = random() % 4; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    bytes.resize(bytes.size() - random() % 3);
    auto heard = decode(bytes);
    CHECK(heard.bytes <= bytes.size());
    if (heard.what)
      CHECK(encode(*heard.what).size() == heard.bytes);
  }
}

TEST_CASE("the devices of two processes are paired off") {
  using pairs = std::vector<std::pair<std::uint8_t, std::uint8_t>>;
  CHECK(paths_between(2, 2) == pairs{{0, 0}, {1, 1}});
  CHECK(paths_between(1, 3) == pairs{{0, 0}, {0, 1}, {0, 2}});
  CHECK(paths_between(3, 2) == pairs{{0, 0}, {1, 1}, {2, 0}});
}

} // namespace
} // namespace perigee::transport::rdma
