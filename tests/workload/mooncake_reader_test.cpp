#include "tests/workload/reading.hpp"
#include "workload/cut.hpp"
#include "workload/mooncake_writer.hpp"

#include <fstream>

namespace perigee::workload {
namespace {

using namespace std::chrono_literals;

std::string line(const std::string& timestamp, const std::string& input,
                 const std::string& output, const std::string& ids) {
  return "{\"timestamp\": " + timestamp + ", \"input_length\": " + input
         + ", \"output_length\": " + output + ", \"hash_ids\": " + ids + "}\n";
}

std::string turn(const std::string& session, const std::string& think) {
  return R"({"timestamp": 3000, "input_length": 1, "output_length": 1, "hash_ids": [1], )"
         R"("session_id": )"
         + session + R"(, "think_ms": )" + think + "}\n";
}

const std::string good = line("3000", "1000", "20", "[0, 7]");

TEST_CASE("a line of a Mooncake trace is a request") {
  auto got = read_text(good + "\n\r\n" + line("3000.5", "512", "1", "[0]"));
  REQUIRE_FALSE(got.wrong);
  REQUIRE(got.requests.size() == 2);
  CHECK(got.requests[0] == request{3s, 1000, 20, {0, 7}, std::nullopt});
  CHECK(got.requests[1] == request{3000500us, 512, 1, {0}, std::nullopt});
}

TEST_CASE("a last line needs no end, and fields of others are passed over") {
  auto got = read_text(R"({"hash_ids":[18446744073709551615],"output_length":2.0,)"
                       R"("text":"x","session_id":4,"input_length":1,"timestamp":0})");
  REQUIRE_FALSE(got.wrong);
  REQUIRE(got.requests.size() == 1);
  CHECK(got.requests[0] == request{0ns, 1, 2, {UINT64_MAX}, 4});
}

TEST_CASE("what is written is read back the same") {
  std::vector<request> all{
    {0ns, 1, 1, {5}, std::nullopt},
    {1ms, 513, 2, {5, UINT64_MAX}, 3},
    {1ms, 1, 2, {5}, UINT64_MAX, 0ns},
    {1ms, 1, 2, {5}, 3, 10ns},
    {1ms, 1, 2, {5}, 3, 24h * 9 + 1ns},
    {1000001ns, 1, tokens_max, {0}, 0},
    {1h + 20ns, tokens_max, 1, std::vector<std::uint64_t>(2048, 9), 1},
  };
  std::stringstream text;
  for (const auto& one : all)
    write_mooncake(text, one);
  mooncake_reader reader{text, "t.jsonl"};
  auto got = read_all(reader);
  CHECK_FALSE(got.wrong);
  CHECK(got.requests == all);
}

struct mistake {
  std::string text;
  cause why;
  std::string said;
};

const std::vector<mistake>& mistakes() {
  static const std::string lengths = "a whole number from 1 to 1048576";
  static const std::vector<mistake> all{
    {"hello\n", cause::malformed, "t.jsonl:2: found no JSON"},
    {"[1]\n", cause::malformed, "t.jsonl:2: found a list; expected an object"},
    {good.substr(0, 40) + "\n", cause::malformed, "t.jsonl:2: found no JSON"},
    {R"({"timestamp": 3000})"
     "\n",
     cause::missing, "t.jsonl:2: input_length: found nothing"},
    {R"({"input_length": 4})"
     "\n",
     cause::missing, "timestamp: found nothing; expected milliseconds from 0"},
    {R"({"timestamp": 3000, "input_length": 4, "output_length": 4})"
     "\n",
     cause::missing, "hash_ids: found nothing; expected 1 ids, for 4 tokens"},
    {line("-1", "1", "1", "[1]"), cause::out_of_range, "timestamp: found -1"},
    {line("1e300", "1", "1", "[1]"), cause::out_of_range, "timestamp: found 1E300"},
    {line("NaN", "1", "1", "[1]"), cause::malformed, "t.jsonl:2: found no JSON"},
    {line("3000", "Infinity", "1", "[1]"), cause::malformed, "found no JSON"},
    {line("1e999", "1", "1", "[1]"), cause::out_of_range, "found Infinity"},
    {line("3000", "1", "1", "[NaN]"), cause::malformed, "found no JSON"},
    {line("\"now\"", "1", "1", "[1]"), cause::wrong_type, "timestamp: found \"now\""},
    {line("2999", "1", "1", "[1]"), cause::out_of_order,
     "timestamp: found 2999; expected 3000 or more"},
    {line("3000", "0", "1", "[]"), cause::out_of_range,
     "input_length: found 0; expected " + lengths},
    {line("3000", "-5", "1", "[1]"), cause::out_of_range,
     "input_length: found -5; expected " + lengths},
    {line("3000", "1048577", "1", "[1]"), cause::out_of_range, "found 1048577"},
    {line("3000", "99999999999999999999999", "1", "[1]"), cause::out_of_range,
     "input_length: found 1E23"},
    {line("3000", "1.5", "1", "[1]"), cause::wrong_type,
     "found 1.5E0; expected a whole"},
    {line("3000", "null", "1", "[1]"), cause::wrong_type, "input_length: found null"},
    {line("3000", "1", "0", "[1]"), cause::out_of_range, "output_length: found 0"},
    {line("3000", "1", "true", "[1]"), cause::wrong_type, "output_length: found true"},
    {line("3000", "1", "1", "7"), cause::wrong_type, "hash_ids: found 7"},
    {line("3000", "1", "1", "[-7]"), cause::out_of_range, "hash_ids: found -7"},
    {line("3000", "1", "1", "[{}]"), cause::wrong_type, "hash_ids: found an object"},
    {line("3000", "513", "1", "[1]"), cause::wrong_blocks,
     "hash_ids: found 1 ids; expected 2 ids, for 513 tokens in blocks of 512"},
    {line("3000", "512", "1", "[1, 2]"), cause::wrong_blocks,
     "found 2 ids; expected 1"},
    {turn("\"me\"", "5"), cause::wrong_type, "session_id: found \"me\""},
    {turn("-1", "5"), cause::out_of_range, "session_id: found -1"},
    {turn("1", "-5"), cause::out_of_range,
     "think_ms: found -5; expected milliseconds from 0 to 31622400000"},
    {turn("1", "31622400001"), cause::out_of_range, "think_ms: found 31622400001"},
    {turn("1", "\"long\""), cause::wrong_type, "think_ms: found \"long\""},
    {turn("1", "null"), cause::wrong_type, "think_ms: found null"},
    {R"({"timestamp": 3000, "input_length": 1, "output_length": 1, "hash_ids": [1], )"
     R"("think_ms": 5})"
     "\n",
     cause::missing, "session_id: found nothing; expected whose turn it is"},
    {std::string(line_bytes_max + 1, ' ') + "\n", cause::line_too_long,
     "t.jsonl:2: found a longer line; expected at most 1048576 bytes"},
  };
  return all;
}

std::string between_good(const std::string& text) {
  return good + text + good;
}

TEST_CASE("a wrong line is named, with what was found and expected") {
  for (const auto& one : mistakes()) {
    auto got = read_text(between_good(one.text));
    CHECK(got.requests.size() == 1);
    REQUIRE(got.wrong);
    CHECK(got.wrong->why == one.why);
    INFO(to_string(*got.wrong));
    CHECK(to_string(*got.wrong).find(one.said) != std::string::npos);
    CHECK(got.wrong->line == 2);
  }
}

TEST_CASE("nothing follows a complaint") {
  std::istringstream from{"hello\n" + good};
  mooncake_reader reader{from, "t.jsonl"};
  CHECK_FALSE(reader.next());
  auto after = reader.next();
  REQUIRE(after);
  CHECK_FALSE(*after);
}

TEST_CASE("a lenient reader counts what it passes over, by cause") {
  skip_counts expected{};
  std::string text = good;
  for (const auto& one : mistakes()) {
    text += one.text + good;
    ++expected[static_cast<std::size_t>(one.why)];
  }
  std::istringstream from{text};
  mooncake_reader reader{from, "t.jsonl", strictness::lenient};
  auto got = read_all(reader);
  CHECK_FALSE(got.wrong);
  CHECK(got.requests.size() == mistakes().size() + 1);
  CHECK(reader.skipped() == expected);
}

TEST_CASE("a trace without a request is complained of") {
  for (auto how : {strictness::strict, strictness::lenient})
    for (const auto* text : {"", "\n", "\r\n  \n"}) {
      auto got = read_text(text, how);
      REQUIRE(got.wrong);
      CHECK(to_string(*got.wrong)
            == "t.jsonl: found no request in it; expected one JSON object a line");
    }
  CHECK(read_text("hello\n", strictness::lenient).wrong->why == cause::empty);
}

/// A line without an end, of which it counts the bytes that are asked for.
class endless_line : public std::streambuf {
public:
  std::size_t bytes = 0;

protected:
  int_type underflow() override {
    part_.assign(4096, ' ');
    bytes += part_.size();
    setg(part_.data(), part_.data(), part_.data() + part_.size());
    return traits_type::to_int_type(' ');
  }

private:
  std::string part_;
};

TEST_CASE("of a line that is too long no more than the limit is read") {
  endless_line bytes;
  std::istream from{&bytes};
  mooncake_reader reader{from, "t.jsonl"};
  auto got = reader.next();
  REQUIRE_FALSE(got);
  CHECK(got.error().why == cause::line_too_long);
  CHECK(bytes.bytes <= line_bytes_max + 4096);
}

/// A line of a gigabyte, in parts of a megabyte; then a good one.
class gigabyte_line : public std::streambuf {
protected:
  int_type underflow() override {
    constexpr std::size_t parts = 1024;
    if (given_ > parts)
      return traits_type::eof();
    if (++given_ > parts)
      part_ = "\n" + good;
    setg(part_.data(), part_.data(), part_.data() + part_.size());
    return traits_type::to_int_type(part_.front());
  }

private:
  std::string part_ = std::string(std::size_t{1} << 20, 'x');
  std::size_t given_ = 0;
};

TEST_CASE("a lenient reader passes over a line of a gigabyte") {
  gigabyte_line bytes;
  std::istream from{&bytes};
  mooncake_reader reader{from, "t.jsonl", strictness::lenient};
  auto got = read_all(reader);
  CHECK_FALSE(got.wrong);
  CHECK(got.requests.size() == 1);
  CHECK(reader.skipped()[static_cast<std::size_t>(cause::line_too_long)] == 1);
}

TEST_CASE("a file that breaks off is no end of a trace") {
  std::ifstream folder{"."}; // opens, and can't be read
  mooncake_reader reader{folder, "."};
  auto got = read_all(reader);
  REQUIRE(got.wrong);
  CHECK(to_string(*got.wrong).find("found a file that can't be read")
        != std::string::npos);
}

TEST_CASE("a part of a trace begins at its own beginning, at its own speed") {
  std::string text;
  for (int second = 0; second < 10; ++second)
    text += line(std::to_string(second * 1000), "1", "1", "[1]");
  auto arrivals = [&](cut how) {
    std::istringstream from{text};
    mooncake_reader reader{from, "t.jsonl"};
    cut_source part{reader, how};
    std::vector<std::chrono::nanoseconds> all;
    for (const auto& one : read_all(part).requests)
      all.push_back(one.arrival);
    return all;
  };
  using times = std::vector<std::chrono::nanoseconds>;
  CHECK(arrivals({.first = 2}) == times{0s, 1s});
  CHECK(arrivals({.first = 0}) == times{});
  CHECK(arrivals({.from = 8s}) == times{0s, 1s});
  CHECK(arrivals({.from = 3500ms, .to = 6s}) == times{500ms, 1500ms});
  CHECK(arrivals({.first = 3, .from = 2s, .speed = 4}) == times{0s, 250ms, 500ms});
  CHECK(arrivals({.to = 2s, .speed = 0.5}) == times{0s, 2s});
}

TEST_CASE("who arrives in half the time thinks half as long") {
  std::istringstream from{good + turn("1", "500")};
  mooncake_reader reader{from, "t.jsonl"};
  cut_source part{reader, {.speed = 2}};
  auto got = read_all(part);
  REQUIRE(got.requests.size() == 2);
  CHECK(got.requests[1].arrival == 1500ms);
  CHECK(got.requests[1].think == 250ms);
}

TEST_CASE("a part of a trace without a request is complained of, once") {
  auto complaint_of = [](cut how) {
    std::istringstream from{good + line("5000", "1", "1", "[1]")};
    mooncake_reader reader{from, "t.jsonl"};
    cut_source part{reader, how, "t.jsonl"};
    auto got = read_all(part);
    CHECK(got.requests.empty());
    auto after = part.next();
    CHECK((after && !*after));
    return got.wrong ? to_string(*got.wrong) : "";
  };
  CHECK(complaint_of({.from = 9s})
        == "t.jsonl: found no request from second 9; expected one at least; all before "
           "it is until second 5");
  CHECK(complaint_of({.from = 4s, .to = 5s}).find("no request from second 4 to 5;")
        != std::string::npos);
}

TEST_CASE("the published conversation trace is read whole") {
  auto file = published_trace("conversation_trace.jsonl");
  if (!file) {
    WARN("skipped: the trace isn't at hand");
    return;
  }
  std::ifstream from{*file};
  mooncake_reader reader{from, *file};
  auto got = read_all(reader);
  REQUIRE_FALSE(got.wrong);
  CHECK(got.requests.size() == 12'031);
  CHECK(got.requests.back().arrival == 3'536'999ms);
  std::ifstream again{*file};
  std::string line_again;
  for (const auto& one : got.requests) {
    std::getline(again, line_again);
    REQUIRE(to_mooncake(one) == line_again + "\n");
  }
}

} // namespace
} // namespace perigee::workload
