#include "tests/journal/scratch.hpp"

namespace perigee::journal {
namespace {

namespace fs = std::filesystem;

void touch(const fs::path& path) {
  fs::create_directories(path.parent_path());
  std::ofstream{path} << "x";
}

TEST_CASE("journals are found by node and life, their segments by number") {
  scratch here;
  touch(here.path() / "n1@2" / segment_name(1));
  touch(here.path() / "n0@10" / segment_name(10));
  touch(here.path() / "n0@10" / segment_name(9));
  touch(here.path() / "n0@9" / segment_name(1));
  touch(here.path() / "n0@9" / "note.txt");
  touch(here.path() / "other" / segment_name(1));
  fs::create_directory(here.path() / "n2@1");
  auto lives = find_lives(here.path());
  REQUIRE(lives);
  REQUIRE(lives->size() == 3);
  CHECK((*lives)[0].node == "n0");
  CHECK((*lives)[0].life == 9);
  CHECK((*lives)[1].life == 10);
  REQUIRE((*lives)[1].segments.size() == 2);
  CHECK((*lives)[1].segments[0].filename() == segment_name(9));
  CHECK((*lives)[2].node == "n1");
}

TEST_CASE("the folder of one life may be named itself") {
  scratch here;
  touch(here.path() / "n0@9" / segment_name(1));
  auto lives = find_lives(here.path() / "n0@9" / "");
  REQUIRE(lives);
  CHECK(lives->size() == 1);
}

TEST_CASE(
  "a folder that is none, or has no journal, is refused with what was expected") {
  scratch here;
  CHECK(find_lives(here.path() / "x").error()
        == (here.path() / "x").string() + " is not there");
  touch(here.path() / "file");
  CHECK(find_lives(here.path() / "file").error().find("is no folder")
        != std::string::npos);
  auto empty = find_lives(here.path()).error();
  CHECK(empty.find("holds no journal: expected files such as n0@1/00000001.journal")
        != std::string::npos);
}

TEST_CASE("names are read strictly") {
  CHECK_FALSE(parse_folder_name("n0"));
  CHECK_FALSE(parse_folder_name("@1"));
  CHECK_FALSE(parse_folder_name("n0@"));
  CHECK_FALSE(parse_folder_name("n0@1x"));
  CHECK(parse_folder_name(folder_name("a@b", 7))->first == "a@b");
  CHECK(parse_segment_name(segment_name(123456789)) == 123456789);
  CHECK_FALSE(parse_segment_name("1.txt"));
  CHECK_FALSE(parse_segment_name(".journal"));
}

} // namespace
} // namespace perigee::journal
