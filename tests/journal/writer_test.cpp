#include "schemas/cluster.capnp.h"
#include "tests/journal/scratch.hpp"

#include <cstring>
#include <map>

namespace perigee::journal {
namespace {

namespace fs = std::filesystem;

/// One of each kind, from `alice` (11) and `bob` (12), who hear of a stranger (99).
void write_some(writer& to) {
  auto words = prompt(11, 1, {1, 2, 3});
  auto foreign = prompt(99, 5, {4});
  to.introduce(actor(11, "n0@3/decode.2#1"));
  to.introduce(actor(12, "n0@3/decode.3#1"));
  to.sent({11, 12, 500, message_of(11, 1, words)});
  to.took({12, 2000, message_of(11, 1, words)});
  to.sent({12, 11, 0, message_of(11, 1, words)}); // bob passes it on
  to.took({12, 1500, message_of(99, 5, foreign)});
  to.absent({12});
  to.failed({12, 0xabcdef, {3, 4, "no"}});
  to.missed({11, 0xabcdef, 2500, {3, 4, "no"}});
  to.lost({11, 99, 2600, {1, 2, "gone"}});
}

TEST_CASE("everything that was written is read, in order") {
  scratch here;
  write_some(*open_in(in_folder(here.path())));
  auto segments = segments_of(here);
  REQUIRE(segments.size() == 1);
  CHECK(segments[0] == here.path() / "n0@3" / "00000001.journal");
  std::vector<std::string> kinds;
  auto end = read_bytes(read_file(segments[0]), [&](const record& one) {
    kinds.push_back(std::to_string(one.index()));
    if (auto* it = std::get_if<opening>(&one)) {
      CHECK(it->segment == 1);
      CHECK(it->life == 3);
      CHECK(it->node == "n0");
      CHECK(it->build == "1.2.3");
      CHECK(it->topology == 42);
      CHECK_FALSE(it->is_redacted);
    } else if (auto* who = std::get_if<introduction>(&one)) {
      CHECK((who->tag == 11 || who->tag == 12));
      CHECK(who->name.starts_with("n0@3/decode."));
      CHECK(who->role == "decode");
      CHECK(who->index == 2);
      CHECK(who->seed == 77);
      CHECK(who->arguments == "a=1");
      CHECK(who->at == 1000);
      CHECK_FALSE(who->is_repeated);
    } else if (auto* sent = std::get_if<sending>(&one)) {
      CHECK(sent->what.sender == 11);
      CHECK(sent->what.sequence == 1);
      CHECK(sent->what.type == capnp::typeId<schema::Prompt>());
      CHECK(sent->what.words.empty() == (sent->by == 12));
      if (sent->by == 11) {
        CHECK(sent->to == 12);
        CHECK(sent->delay == 500);
        auto words = prompt(11, 1, {1, 2, 3});
        REQUIRE(sent->what.words.size() == words.size());
        CHECK(std::memcmp(words.begin(), sent->what.words.data(), 8 * words.size())
              == 0);
      }
    } else if (auto* taken = std::get_if<taking>(&one)) {
      CHECK(taken->by == 12);
      bool local = taken->what.sender == 11;
      CHECK(taken->at == (local ? 2000 : 1500));
      CHECK(taken->what.words.empty() == local);
    } else if (auto* failed = std::get_if<failing>(&one)) {
      CHECK(failed->span == 0xabcdef);
      CHECK(failed->why.code == 4);
      CHECK(failed->why.text == "no");
    } else if (auto* missed = std::get_if<missing>(&one)) {
      CHECK(missed->at == 2500);
    } else if (auto* lost = std::get_if<losing>(&one)) {
      CHECK(lost->whom == 99);
      CHECK(lost->at == 2600);
      CHECK(lost->why.text == "gone");
    }
  });
  CHECK(end == "end");
  std::string order;
  for (const auto& one : kinds)
    order += one;
  CHECK(order
        == "0112323"
           "4567");
}

/// Run by hand: tests/fuzz/README.md says when.
TEST_CASE("write the seeds of the fuzz target", "[.]") {
  scratch here;
  write_some(*open_in(in_folder(here.path())));
  auto segment = read_file(segments_of(here)[0]);
  fs::path seeds = PERIGEE_SOURCE_DIR "/tests/fuzz/journal/seeds";
  std::ofstream{seeds / "segment", std::ios::binary} << 's' << segment;
  std::ofstream{seeds / "payload", std::ios::binary}
    << 'p' << segment.substr(segment_head_bytes + frame_head_bytes);
  std::ofstream{seeds / "torn", std::ios::binary}
    << 's' << segment.substr(0, segment.size() - 9);
}

TEST_CASE("equal calls write equal bytes") {
  scratch a, b;
  write_some(*open_in(in_folder(a.path())));
  write_some(*open_in(in_folder(b.path())));
  CHECK(read_file(segments_of(a)[0]) == read_file(segments_of(b)[0]));
}

TEST_CASE("token ids are left out unless they are wanted") {
  scratch here;
  auto how = in_folder(here.path());
  how.about.is_redacted = true;
  std::vector types{capnp::StructSchema{capnp::Schema::from<schema::Prompt>()}};
  how.redacts = std::make_shared<const redactor>(types);
  {
    auto to = open_in(how);
    auto words = prompt(11, 1, {0xfeedface, 0xfeedface});
    auto unknown = prompt(11, 2, {});
    to->introduce(actor(11, "n0@3/decode.2#1"));
    to->sent({11, 0, 0, message_of(11, 1, words)});
    to->took({11, 5, message_of(99, 1, words)});
    to->sent({11, 0, 0, {11, 2, capnp::typeId<schema::Tick>(), view(unknown)}});
  }
  int messages = 0;
  read_bytes(read_file(segments_of(here)[0]), [&](const record& one) {
    words_view words;
    if (auto* sent = std::get_if<sending>(&one))
      words = sent->what.words;
    else if (auto* taken = std::get_if<taking>(&one))
      words = taken->what.words;
    else
      return;
    ++messages;
    CHECK(words.empty() == (messages == 3)); // of a type that was not told
    for (const auto& word : words) {
      std::uint32_t halves[2];
      std::memcpy(halves, &word, 8);
      CHECK(halves[0] != 0xfeedface);
      CHECK(halves[1] != 0xfeedface);
    }
  });
  CHECK(messages == 3);
}

/// Sends `count` messages of some kilobytes that can't be packed.
void write_much(writer& to, int count) {
  to.introduce(actor(11, "n0@3/decode.2#1"));
  std::vector<std::uint32_t> tokens(2000, 0xdeadbeef);
  for (int i = 0; i < count; ++i) {
    auto number = static_cast<std::uint64_t>(i + 1);
    auto words = prompt(11, number, tokens);
    to.sent({11, 0, 0, message_of(11, number, words)});
  }
}

TEST_CASE("the oldest segments go, whole, and every one can be read by itself") {
  scratch here;
  auto how = in_folder(here.path());
  how.segment_bytes = segment_bytes_min;
  how.total_bytes = 4 * segment_bytes_min;
  {
    auto to = open_in(how);
    write_much(*to, 500); // about 4 MB
    CHECK(to->segments_dropped() > 5);
  }
  auto segments = segments_of(here);
  CHECK(segments.size() >= 3);
  std::uint64_t bytes = 0, last = 0;
  for (const auto& path : segments) {
    bytes += fs::file_size(path);
    int introductions = 0;
    auto end = read_bytes(read_file(path), [&](const record& one) {
      if (auto* who = std::get_if<introduction>(&one)) {
        ++introductions;
        CHECK(who->is_repeated);
        CHECK(who->name == "n0@3/decode.2#1");
      } else if (auto* sent = std::get_if<sending>(&one)) {
        CHECK(sent->by == 11);
        CHECK((last == 0 || sent->what.sequence == last + 1));
        last = sent->what.sequence;
      }
    });
    CHECK(end == "end");
    CHECK(introductions == 1);
  }
  CHECK(bytes <= how.total_bytes + frame_bytes_full);
  CHECK(last == 500);
}

TEST_CASE("a node's earlier lives are the first to go, other nodes' stay") {
  scratch here;
  auto how = in_folder(here.path());
  how.segment_bytes = segment_bytes_min;
  how.total_bytes = 4 * segment_bytes_min;
  how.about.life = 1;
  write_much(*open_in(how), 60);
  how.about.node = "n1";
  write_much(*open_in(how), 60);
  how.about.node = "n0";
  how.about.life = 2;
  write_much(*open_in(how), 500);
  std::map<std::string, int> by_life;
  for (const auto& path : segments_of(here))
    ++by_life[path.parent_path().filename().string()];
  CHECK(by_life.count("n0@1") == 0);
  CHECK_FALSE(fs::exists(here.path() / "n0@1"));
  CHECK(by_life["n1@1"] > 0);
  CHECK(by_life["n0@2"] >= 3);
}

TEST_CASE("no journal is written over another") {
  scratch here;
  auto how = in_folder(here.path());
  open_in(how).reset();
  auto again = writer::open(how);
  REQUIRE_FALSE(again);
  CHECK(again.error().find("n0@3 is there already") != std::string::npos);
}

TEST_CASE("a folder that can't be made is told at once") {
  scratch here;
  std::ofstream{here.path() / "file"} << "x";
  auto made = writer::open(in_folder(here.path() / "file"));
  REQUIRE_FALSE(made);
  CHECK(made.error().find("can't be made") != std::string::npos);
}

TEST_CASE("a disk that takes no more ends the journal, is told once, and is all") {
  scratch here;
  auto how = in_folder(here.path());
  how.segment_bytes = segment_bytes_min;
  how.total_bytes = 4 * segment_bytes_min;
  std::vector<std::string> told;
  how.on_failure = [&](const std::string& why) { told.push_back(why); };
  {
    auto to = open_in(how);
    // The next segment's name is taken: as good as a disk that is full.
    fs::create_directory(here.path() / "n0@3" / segment_name(2));
    write_much(*to, 500);
  }
  REQUIRE(told.size() == 1);
  CHECK(told[0].find("00000002.journal can't be made") != std::string::npos);
  CHECK(read_bytes(read_file(here.path() / "n0@3" / segment_name(1))) == "end");
}

} // namespace
} // namespace perigee::journal
