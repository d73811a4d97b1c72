#include "actors/cluster/handbook.hpp"
#include "apps/perigee/command.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

namespace perigee::app {
namespace {

struct wishes {
  std::string file = "topology.toml";
  std::string model = "models/SmolLM2-135M-Instruct.Q4_1.gguf";
  bool force = false;
  bool handbook = false;
};

/// As the file will have it: relative to its own folder.
std::string seen_from(const std::string& file, const std::string& model) {
  std::filesystem::path path = model;
  if (path.is_absolute())
    return model;
  auto folder = std::filesystem::absolute(file).parent_path();
  return std::filesystem::absolute(path).lexically_proximate(folder).string();
}

exit_code write(const wishes& how) {
  if (!how.force && std::filesystem::exists(how.file)) {
    std::fprintf(stderr, "%s is there already: --force writes over it\n",
                 how.file.c_str());
    return exit_code::misused;
  }
  std::ofstream file{how.file};
  file << cluster::to_toml(cluster::laptop(seen_from(how.file, how.model)));
  if (!file.flush()) {
    std::fprintf(stderr, "%s cannot be written\n", how.file.c_str());
    return exit_code::failed;
  }
  std::printf("%s is a cluster of one node. Next: perigee serve %s\n", how.file.c_str(),
              how.file.c_str());
  return exit_code::good;
}

} // namespace

void add_init(CLI::App& to, session& all) {
  auto how = std::make_shared<wishes>();
  auto* init = to.add_subcommand(
    "init", "Write a topology file to start from, with every setting explained");
  init->add_option("FILE", how->file, "Where to write it")->capture_default_str();
  init->add_option("--model", how->model, "The model that it serves")
    ->capture_default_str();
  init->add_flag("--force", how->force, "Write over a file that is there");
  init->add_flag("--handbook", how->handbook,
                 "Print the handbook's page on settings instead: docs/topology.md");
  init->callback([how, &all] {
    if (how->handbook)
      std::fputs(cluster::topology_page().c_str(), stdout);
    else
      all.left = write(*how);
  });
}

} // namespace perigee::app
