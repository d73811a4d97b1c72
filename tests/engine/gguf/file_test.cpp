#include "tests/engine/gguf/gguf_writer.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>

namespace perigee::engine::gguf {
namespace {

// A folder that goes when the test ends.
class scratch {
public:
  scratch() {
    auto name = (std::filesystem::temp_directory_path() / "perigee-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~scratch() {
    std::filesystem::remove_all(folder_);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  std::string file(const std::string& name) const {
    return (folder_ / name).string();
  }

private:
  std::filesystem::path folder_;
};

gguf_writer small_file(std::byte filling) {
  gguf_writer file;
  file.number("n", 1).tensor("t", tensor_type::f32, {2048},
                             std::vector<std::byte>(8192, filling));
  return file;
}

TEST_CASE("a file is mapped as it is on disk") {
  scratch folder;
  small_file(std::byte{3}).save(folder.file("m.gguf"));
  auto opened = file::open(folder.file("m.gguf"));
  REQUIRE(opened);
  CHECK((*opened)->bytes().size() == std::filesystem::file_size(folder.file("m.gguf")));
  CHECK((*opened)->find("t")->data[8191] == std::byte{3});
}

TEST_CASE("released pages come back when they are read") {
  scratch folder;
  small_file(std::byte{3}).save(folder.file("m.gguf"));
  auto opened = file::open(folder.file("m.gguf"));
  REQUIRE(opened);
  (*opened)->release((*opened)->find("t")->data);
  CHECK((*opened)->find("t")->data[4096] == std::byte{3});
}

TEST_CASE("any other byte makes another digest, another name does not") {
  scratch folder;
  small_file(std::byte{3}).save(folder.file("a.gguf"));
  small_file(std::byte{3}).save(folder.file("b.gguf"));
  small_file(std::byte{4}).save(folder.file("c.gguf"));
  auto digest
    = [&](const char* name) { return file::open(folder.file(name)).value()->digest(); };
  CHECK(digest("a.gguf") == digest("b.gguf"));
  CHECK(digest("a.gguf") != digest("c.gguf"));
}

TEST_CASE("a file that can't be mapped is refused by its path") {
  scratch folder;
  auto why = file::open(folder.file("none.gguf")).error();
  CHECK(why.code == file_fault::unreadable);
  CHECK(why.where == folder.file("none.gguf"));
  CHECK(why.expected == "a file that can be read: No such file or directory");
  std::filesystem::create_directory(folder.file("dir.gguf"));
  CHECK(file::open(folder.file("dir.gguf")).error().code == file_fault::unreadable);
  std::ofstream(folder.file("empty.gguf")).flush();
  CHECK(file::open(folder.file("empty.gguf")).error().code == file_fault::unreadable);
}

TEST_CASE("a damaged file is refused when it is opened") {
  scratch folder;
  std::ofstream(folder.file("m.gguf")) << "GGUF but then something else";
  auto why = file::open(folder.file("m.gguf")).error();
  CHECK(why.where == folder.file("m.gguf") + ": version, byte 4");
}

} // namespace
} // namespace perigee::engine::gguf
