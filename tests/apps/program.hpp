/// \file
/// The built program, run as a person runs it.
#pragma once

#include <catch2/catch.hpp>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace perigee::app {

struct outcome {
  int code = -1;
  std::string said; ///< On stdout and stderr.
};

/// `perigee ARGUMENTS`, by a shell, in the folder `in`, with `environment` before it.
inline outcome run(const std::string& arguments, const std::string& in = ".",
                   const std::string& environment = "") {
  auto line = "cd '" + in + "' && " + environment + " '" PERIGEE_PROGRAM "' "
              + arguments + " 2>&1 </dev/null";
  outcome got;
  FILE* output = popen(line.c_str(), "r");
  REQUIRE(output);
  std::array<char, 4096> part{};
  while (auto count = fread(part.data(), 1, part.size(), output))
    got.said.append(part.data(), count);
  int status = pclose(output);
  got.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return got;
}

/// A folder that is gone after the test.
class scratch {
public:
  scratch() {
    std::string name = std::filesystem::temp_directory_path() / "perigee-XXXXXX";
    REQUIRE(mkdtemp(name.data()));
    path_ = name;
  }
  ~scratch() {
    std::filesystem::remove_all(path_);
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  std::string path(const std::string& file = "") const {
    return (path_ / file).string();
  }

  void write(const std::string& file, const std::string& text) const {
    std::ofstream{path_ / file} << text;
  }

private:
  std::filesystem::path path_;
};

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace perigee::app
