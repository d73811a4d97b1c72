#include "journal/format.hpp"
#include "tests/journal/scratch.hpp"

#include <random>

namespace perigee::journal {
namespace {

/// A segment of several frames.
std::string some_segment() {
  scratch here;
  {
    auto to = open_in(in_folder(here.path()));
    to->introduce(actor(11, "n0@3/decode.2#1"));
    std::vector<std::uint32_t> tokens(3000, 0xdeadbeef);
    for (std::uint64_t i = 1; i <= 20; ++i) {
      auto words = prompt(11, i, tokens);
      to->sent({11, 0, 0, message_of(11, i, words)});
      to->took({11, static_cast<std::int64_t>(i), message_of(11, i, words)});
    }
  }
  return read_file(segments_of(here)[0]);
}

std::size_t records_in(const std::string& all) {
  std::size_t records = 0;
  read_bytes(all, [&](const record&) { ++records; });
  return records;
}

bool begins(const std::string& text, const std::string& with) {
  return text.starts_with(with);
}

TEST_CASE("a segment cut anywhere gives what is whole, and says what was skipped") {
  auto all = some_segment();
  REQUIRE(read_bytes(all) == "end");
  auto whole = records_in(all);
  std::size_t fewer = 0;
  for (std::size_t size = segment_head_bytes; size < all.size(); size += 997) {
    auto cut = all.substr(0, size);
    auto end = read_bytes(cut);
    INFO(size << ": " << end);
    CHECK((end == "end" || begins(end, "torn f: at byte ")));
    fewer += records_in(cut) < whole;
  }
  CHECK(fewer > 50);
}

TEST_CASE("zeros behind the last frame are a torn end, too") {
  auto all = some_segment();
  auto end = read_bytes(all + std::string(5000, '\0'));
  CHECK(begins(end, "torn f: at byte " + std::to_string(all.size())));
  CHECK(records_in(all + std::string(5000, '\0')) == records_in(all));
}

TEST_CASE("a changed byte in the middle is told with its place") {
  auto all = some_segment();
  all[all.size() / 3] = static_cast<char>(all[all.size() / 3] ^ 1);
  auto end = read_bytes(all);
  INFO(end);
  CHECK(begins(end, "f: at byte "));
  CHECK(end.find("checksum is wrong") != std::string::npos);
}

TEST_CASE("a frame is not taken for another") {
  auto all = some_segment();
  // The first frame once more behind itself: its checksum holds for its own place only.
  auto size = static_cast<unsigned char>(all[16])
              + 256u * static_cast<unsigned char>(all[17])
              + 65536u * static_cast<unsigned char>(all[18]);
  auto frame = all.substr(16, frame_head_bytes + size);
  auto end = read_bytes(all.substr(0, 16) + frame + frame + std::string(1, 'x'));
  CHECK(end.find("checksum is wrong") != std::string::npos);
}

TEST_CASE("what is no journal is refused by name") {
  CHECK(read_bytes("") == "f: at byte 0: an empty file");
  CHECK(read_bytes("PERI") == "f: at byte 0: this is no journal");
  CHECK(read_bytes(std::string(100, 'x')) == "f: at byte 0: this is no journal");
  auto all = some_segment();
  CHECK(read_bytes(all.substr(0, 12)) == "f: at byte 0: shorter than a segment's head");
  auto later = all;
  later[8] = 2;
  CHECK(read_bytes(later) == "f: at byte 8: a journal of version 2: expected 1");
  CHECK(read_bytes(all.substr(0, 16)) == "end"); // begun, and nothing written yet
  CHECK(begins(read_bytes(all.substr(0, 16) + std::string(40, 'x')),
               "f: at byte 16: this is no frame"));
}

TEST_CASE("no change of bytes does any harm") {
  auto all = some_segment().substr(0, 3000);
  std::mt19937_64 dice{3};
  for (int round = 0; round < 2000; ++round) {
    auto changed = all;
    for (int i = 0; i < 3; ++i)
      changed[dice() % changed.size()] = static_cast<char>(dice());
    CHECK_FALSE(read_bytes(changed).empty());
  }
}

} // namespace
} // namespace perigee::journal
