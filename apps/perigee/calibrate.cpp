#include "actors/cluster/handbook.hpp"
#include "apps/perigee/calibration.hpp"
#include "apps/perigee/command.hpp"
#include "apps/perigee/logging.hpp"
#include "apps/perigee/model.hpp"
#include "apps/perigee/topology_source.hpp"

#include <cstdio>
#include <fstream>
#include <memory>

namespace perigee::app {
namespace {

struct wishes {
  topology_source from;
  std::string out = "-";
  bool quick = false;
};

exit_code say(exit_code code, const std::string& why) {
  std::fprintf(stderr, "perigee calibrate: %s\n", why.c_str());
  return code;
}

exit_code write(const std::string& text, const std::string& out) {
  if (out == "-") {
    std::fputs(text.c_str(), stdout);
    return exit_code::good;
  }
  std::ofstream file{out};
  file << text;
  if (!file.flush())
    return say(exit_code::failed, out + " cannot be written");
  std::fprintf(stderr, "Add what %s holds to the topology file.\n", out.c_str());
  return exit_code::good;
}

exit_code run(const wishes& how, const session& all) {
  auto topology = load(how.from);
  if (!topology)
    return exit_code::misused;
  auto log = make_log(all.log_level);
  auto loaded = load_model(*topology, *log);
  if (!loaded)
    return say(exit_code::failed, loaded.error());
  if (!loaded->weights)
    return say(exit_code::misused, "modelled engines cost what [hardware.NAME] says");
  auto measured = calibrate_engines(
    *loaded, *topology, how.quick ? effort::quick : effort::thorough,
    [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });
  if (!measured)
    return say(exit_code::failed, measured.error());
  return write(cluster::to_toml(*measured), how.out);
}

} // namespace

void add_calibrate(CLI::App& to, session& all) {
  auto how = std::make_shared<wishes>();
  auto* calibrate = to.add_subcommand(
    "calibrate", "Measure what batches cost on this machine, as [cost_model] in TOML");
  add_topology_arguments(*calibrate, how->from);
  calibrate->add_flag("--quick", how->quick, "A second or so, as a start does it");
  calibrate->add_option("--out", how->out, "Where to write it; - is stdout")
    ->capture_default_str();
  calibrate->callback([how, &all] { all.left = run(*how, all); });
}

} // namespace perigee::app
