#include "workload/azure_reader.hpp"

#include "tests/workload/reading.hpp"

namespace perigee::workload {
namespace {

using namespace std::chrono_literals;

const std::string head = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
const std::string row = "2023-11-16 18:15:46.6805900,374,44\n";

reading read_table(const std::string& text) {
  std::istringstream from{text};
  azure_reader reader{from, "a.csv"};
  return read_all(reader);
}

TEST_CASE("a row of Azure's table is a request that shares nothing") {
  auto got = read_table(head + row + "2023-11-16 18:15:47.6805901,513,7\r\n\n"
                        + "2023-11-17T00:00:00Z,1,1");
  REQUIRE_FALSE(got.wrong);
  REQUIRE(got.requests.size() == 3);
  CHECK(got.requests[0] == request{0s, 374, 44, {0}, {}});
  CHECK(got.requests[1] == request{1s + 100ns, 513, 7, {1, 2}, {}});
  CHECK(got.requests[2] == request{20'653'319'410us, 1, 1, {3}, {}});
}

TEST_CASE("columns are found by name") {
  auto got = read_table("\xEF\xBB\xBF"
                        "Model, GeneratedTokens,TIMESTAMP,ContextTokens\n"
                        "x,5,2024-05-10 00:00:00.009930+00:00,2162\n");
  REQUIRE_FALSE(got.wrong);
  CHECK(got.requests.at(0) == request{0s, 2'162, 5, {0, 1, 2, 3, 4}, {}});
}

TEST_CASE("times are read to the nanosecond, or not at all") {
  CHECK(utc_nanoseconds("1970-01-02 00:00:01") == 86'401'000'000'000);
  CHECK(utc_nanoseconds("2000-02-29 12:00:00.5") == 951'825'600'500'000'000);
  CHECK(utc_nanoseconds("1970-01-01 00:00:00.1234567899") == 123'456'789);
  for (const auto* wrong :
       {"", "now", "1969-01-01 00:00:00", "2023-02-29 00:00:00", "2023-1-1 00:00:00",
        "2023-01-01", "2023-01-01 24:00:00", "2023-01-01 00:60:00",
        "2023-01-01 00:00:00.", "2023-01-01 00:00:00+02:00", "2023-01-01 00:00:00x",
        "-023-01-01 00:00:00", "2023-01-01 00:00:-1", "9999-01-01 00:00:00"}) {
    INFO(wrong);
    CHECK_FALSE(utc_nanoseconds(wrong));
  }
}

TEST_CASE("a wrong row is named, with what was found and expected") {
  struct {
    std::string text;
    cause why;
    std::string said;
  } mistakes[] = {
    {"2023-11-16 18:15:48,5\n", cause::malformed, "a.csv:3: found a row of 2 cells"},
    {"yesterday,5,5\n", cause::wrong_type, "a.csv:3: TIMESTAMP: found yesterday"},
    {",5,5\n", cause::missing, "TIMESTAMP: found nothing"},
    {"2023-11-16 18:15:45,5,5\n", cause::out_of_order, "not before that of the row"},
    {"2025-11-16 18:15:45,5,5\n", cause::out_of_range, "within 366 days"},
    {"2023-11-16 18:15:48,0,5\n", cause::out_of_range,
     "ContextTokens: found 0; expected a whole number from 1 to 1048576"},
    {"2023-11-16 18:15:48,-3,5\n", cause::out_of_range, "ContextTokens: found -3"},
    {"2023-11-16 18:15:48,5,99999999999999999999\n", cause::out_of_range,
     "GeneratedTokens: found 99999999999999999999"},
    {"2023-11-16 18:15:48,5,1.5\n", cause::wrong_type, "GeneratedTokens: found 1.5"},
    {"2023-11-16 18:15:48,,5\n", cause::missing, "ContextTokens: found nothing"},
    {std::string(line_bytes_max + 1, ',') + "\n", cause::line_too_long,
     "a longer line"},
  };
  skip_counts expected{};
  std::string all = head + row;
  for (const auto& one : mistakes) {
    auto got = read_table(head + row + one.text);
    CHECK(got.requests.size() == 1);
    REQUIRE(got.wrong);
    CHECK(got.wrong->why == one.why);
    INFO(to_string(*got.wrong));
    CHECK(to_string(*got.wrong).find(one.said) != std::string::npos);
    all += one.text;
    ++expected[static_cast<std::size_t>(one.why)];
  }
  std::istringstream from{all + row};
  azure_reader lenient{from, "a.csv", strictness::lenient};
  auto got = read_all(lenient);
  CHECK_FALSE(got.wrong);
  CHECK(got.requests.size() == 2);
  CHECK(lenient.skipped() == expected);
}

TEST_CASE("a table without its head, or without rows, is refused") {
  CHECK(to_string(*read_table(row).wrong).find("a.csv:1: found 2023-11-16") == 0);
  for (const auto& text : {std::string{}, head})
    CHECK(to_string(*read_table(text).wrong)
          == "a.csv: found no request in it; expected a head and a row for each "
             "request");
}

} // namespace
} // namespace perigee::workload
