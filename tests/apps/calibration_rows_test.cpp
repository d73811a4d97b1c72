#include "apps/perigee/calibration_rows.hpp"

#include <catch2/catch.hpp>

#include <sstream>

namespace perigee::app {
namespace {

constexpr auto head = "kind,tokens,prefix,sequences,kv_tokens,bytes,seconds\n";

result<std::vector<calibration_row>, std::string> read(const std::string& text) {
  std::istringstream from{text};
  return read_calibration_rows(from, "mine.csv");
}

std::string complaint_of(const std::string& text) {
  auto got = read(text);
  REQUIRE_FALSE(got);
  return got.error();
}

TEST_CASE("each kind of row is read for what it has, and comments are passed over") {
  auto got = read(std::string{"# on a Tuesday\n"} + head
                  + "prefill,8192,,,,,1.002\r\n"
                    "\n"
                    "prefill, 8192, 7782 ,,,,.135\n"
                    "decode,,0,16,131072,,33.1e-3\n"
                    "transfer,,,,,2684354560,0.03\n");
  REQUIRE(got);
  using kind = measured_kind;
  CHECK(*got
        == std::vector<calibration_row>{
          {kind::prefill, 8192, 0, 0, 0, 0, 1.002},
          {kind::prefill, 8192, 7782, 0, 0, 0, 0.135},
          {kind::decode, 0, 0, 16, 131072, 0, 0.0331},
          {kind::transfer, 0, 0, 0, 0, 2684354560, 0.03},
        });
}

TEST_CASE("columns may stand in any order, and those that no row needs may lack") {
  auto got = read("seconds,tokens,kind\n2,100,prefill\n");
  REQUIRE(got);
  CHECK(got->front() == calibration_row{measured_kind::prefill, 100, 0, 0, 0, 0, 2});
}

TEST_CASE("what is wrong with a head is named, with the nearest name") {
  CHECK(complaint_of("kind,token,seconds\n")
        == "mine.csv:1: the head: found \"token\"; expected columns among kind, "
           "tokens, prefix, sequences, kv_tokens, bytes, seconds; did you mean "
           "\"tokens\"?");
  CHECK(complaint_of("kind,kind,seconds\n")
        == "mine.csv:1: the head: found \"kind\"; expected each column once");
  CHECK(complaint_of("kind,tokens\n").ends_with("expected a column seconds in it"));
}

TEST_CASE("what is wrong with a row is named by line and column") {
  auto with = [](const std::string& row) {
    return complaint_of(std::string{head} + "prefill,1,,,,,1\n" + row + "\n");
  };
  CHECK(with("prefil,1,,,,,1")
        == "mine.csv:3: kind: found \"prefil\"; expected prefill, decode or transfer; "
           "did you mean \"prefill\"?");
  CHECK(with("prefill,1,,,,1")
        == "mine.csv:3: the row: found \"6 cells\"; expected 7, as the head has");
  CHECK(with("prefill,,,,,,1").starts_with("mine.csv:3: tokens: found nothing"));
  CHECK(with("prefill,-5,,,,,1").starts_with("mine.csv:3: tokens: found \"-5\""));
  CHECK(with("prefill,1e3,,,,,1").starts_with("mine.csv:3: tokens: found \"1e3\""));
  CHECK(with("prefill,8,8,,,,1")
        == "mine.csv:3: prefix: found \"8\"; expected less than tokens");
  CHECK(with("prefill,8,,2,,,1")
        == "mine.csv:3: sequences: found \"2\"; expected nothing, for prefill");
  CHECK(with("decode,,,0,5,,1").starts_with("mine.csv:3: sequences: found \"0\""));
  CHECK(with("transfer,,,,,99999999999999999999,1").starts_with("mine.csv:3: bytes:"));
  for (const char* seconds : {"", "0", "-1", "nan", "inf", "1s", "1e9"})
    CHECK(with(std::string{"prefill,8,,,,,"} + seconds)
            .starts_with("mine.csv:3: seconds: found "));
}

TEST_CASE("a table without a row is complained of") {
  CHECK(complaint_of("").starts_with("mine.csv: no row"));
  CHECK(complaint_of(head).starts_with("mine.csv: no row"));
}

} // namespace
} // namespace perigee::app
