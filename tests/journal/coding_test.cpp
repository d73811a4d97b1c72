#include "journal/coding.hpp"

#include "journal/format.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <string>

namespace perigee::journal {
namespace {

TEST_CASE("numbers and texts are read as they were written") {
  bytes all;
  byte_writer out{all};
  const std::uint64_t numbers[]{0,
                                1,
                                127,
                                128,
                                300,
                                std::uint64_t{1} << 63,
                                std::numeric_limits<std::uint64_t>::max()};
  const std::int64_t signed_numbers[]{0,
                                      -1,
                                      1,
                                      -64,
                                      64,
                                      std::numeric_limits<std::int64_t>::min(),
                                      std::numeric_limits<std::int64_t>::max()};
  for (auto x : numbers)
    out.number(x);
  for (auto x : signed_numbers)
    out.signed_number(x);
  out.fixed32(0xdeadbeef);
  out.fixed64(0x0123456789abcdef);
  out.text("a name");
  byte_reader in{all};
  for (auto x : numbers)
    CHECK(in.number() == x);
  for (auto x : signed_numbers)
    CHECK(in.signed_number() == x);
  CHECK(in.fixed32() == 0xdeadbeef);
  CHECK(in.fixed64() == 0x0123456789abcdef);
  CHECK(in.text() == "a name");
  CHECK(in.is_at_end());
  CHECK(in.ok());
}

TEST_CASE("a small number takes one byte, on both sides of 0") {
  bytes all;
  byte_writer out{all};
  out.number(127);
  out.signed_number(-64);
  out.signed_number(63);
  CHECK(all.size() == 3);
}

TEST_CASE("past the end everything reads as nothing, and is known to be wrong") {
  bytes all;
  byte_writer{all}.fixed32(7);
  byte_reader in{all};
  CHECK(in.fixed64() == 7);
  CHECK_FALSE(in.ok());
  CHECK(in.number() == 0);
  CHECK(in.text().empty());
}

TEST_CASE("a number of more than 64 bits is wrong") {
  bytes all(9, std::byte{0xff});
  all.push_back(std::byte{0x02});
  byte_reader in{all};
  CHECK(in.number() == 0);
  CHECK_FALSE(in.ok());
}

TEST_CASE("a text is cut at its limit, and one that claims more is wrong") {
  bytes all;
  byte_writer{all}.text(std::string(text_bytes_max + 10, 'x'));
  byte_reader in{all};
  CHECK(in.text().size() == text_bytes_max);
  CHECK(in.ok());
  bytes longer;
  byte_writer{longer}.number(text_bytes_max + 1);
  longer.resize(longer.size() + text_bytes_max + 1);
  byte_reader bad{longer};
  CHECK(bad.text().empty());
  CHECK_FALSE(bad.ok());
}

} // namespace
} // namespace perigee::journal
