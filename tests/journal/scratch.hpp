/// \file
/// A folder for a test, messages to keep in it, and what is read back.
#pragma once

#include "journal/folder.hpp"
#include "journal/segment_reader.hpp"
#include "journal/writer.hpp"
#include "schemas/request.capnp.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace perigee::journal {

/// Is gone after the test.
class scratch {
public:
  scratch() {
    std::string name = std::filesystem::temp_directory_path() / "journal-XXXXXX";
    REQUIRE(mkdtemp(name.data()));
    path_ = name;
  }
  ~scratch() {
    std::filesystem::remove_all(path_);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  const std::filesystem::path& path() const {
    return path_;
  }

private:
  std::filesystem::path path_;
};

/// A message as another would send it: the flat words of a Prompt.
inline kj::Array<capnp::word> prompt(std::uint64_t sender, std::uint64_t sequence,
                                     const std::vector<std::uint32_t>& tokens) {
  capnp::MallocMessageBuilder built;
  auto all = built.initRoot<schema::Prompt>();
  all.initHeader().setSender(sender);
  all.getHeader().setSequence(sequence);
  all.setRequest(4711);
  auto to = all.initTokens(static_cast<unsigned>(tokens.size()));
  for (unsigned i = 0; i < to.size(); ++i)
    to.set(i, tokens[i]);
  return capnp::messageToFlatArray(built);
}

inline words_view view(const kj::Array<capnp::word>& words) {
  return {words.begin(), words.size()};
}

inline message message_of(std::uint64_t sender, std::uint64_t sequence,
                          const kj::Array<capnp::word>& words) {
  return {sender, sequence, capnp::typeId<schema::Prompt>(), view(words)};
}

/// On the calling thread, so that equal tests write equal bytes.
inline settings in_folder(const std::filesystem::path& folder) {
  settings how;
  how.folder = folder;
  how.about.node = "n0";
  how.about.life = 3;
  how.about.build = "1.2.3";
  how.about.topology = 42;
  how.about.is_redacted = false;
  how.in_background = false;
  return how;
}

inline std::unique_ptr<writer> open_in(const settings& how) {
  auto made = writer::open(how);
  if (!made)
    FAIL(made.error());
  return std::move(*made);
}

inline introduction actor(std::uint64_t tag, std::string_view name) {
  introduction one;
  one.tag = tag;
  one.name = name;
  one.role = "decode";
  one.index = 2;
  one.incarnation = 1;
  one.life = 3;
  one.seed = 77;
  one.arguments = "a=1";
  one.at = 1000;
  return one;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// What `see` is told of every record, then how it ended: "end", "torn ..." or what was
/// wrong.
template <class See>
std::string read_bytes(const std::string& all, See see) {
  std::istringstream in{all};
  segment_reader reader{in, "f"};
  for (;;) {
    auto got = reader.next();
    if (!got)
      return to_string(got.error());
    if (!*got)
      return reader.torn() ? "torn " + to_string(*reader.torn()) : "end";
    see(**got);
  }
}

inline std::string read_bytes(const std::string& all) {
  return read_bytes(all, [](const record&) {});
}

inline std::vector<std::filesystem::path> segments_of(const scratch& here) {
  auto lives = find_lives(here.path());
  REQUIRE(lives);
  std::vector<std::filesystem::path> all;
  for (const auto& one : *lives)
    all.insert(all.end(), one.segments.begin(), one.segments.end());
  return all;
}

} // namespace perigee::journal
