#include "actors/cluster/handbook.hpp"
#include "apps/perigee/calibration.hpp"
#include "apps/perigee/calibration_fit.hpp"
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
  std::string table;    ///< Of measurements; empty: this machine is measured.
  std::string hardware; ///< Empty: for the cluster that runs here.
  std::string out = "-";
  bool quick = false;
};

/// As a topology names hardware. What is wrong, or nothing.
std::string is_name(const std::string& text) {
  constexpr auto allowed
    = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  bool good = !text.empty() && text.size() <= 32
              && text.find_first_not_of(allowed) == std::string::npos;
  return good ? "" : "expected a name of at most 32 letters, digits, - and _";
}

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

std::string as_section(const cluster::hardware_settings& costs, const wishes& how) {
  return how.hardware.empty()
           ? cluster::to_toml(static_cast<const cluster::cost_settings&>(costs))
           : cluster::to_toml(costs, how.hardware);
}

exit_code fit_table(const wishes& how) {
  std::ifstream file{how.table};
  if (!file)
    return say(exit_code::failed, how.table + " can't be opened");
  auto rows = read_calibration_rows(file, how.table);
  if (!rows)
    return say(exit_code::failed, rows.error());
  auto costs = fit_costs(*rows);
  if (!costs)
    return say(exit_code::failed, how.table + ": " + costs.error());
  std::fputs(residual_table(*costs, *rows).c_str(), stderr);
  return write(as_section(with_spread(*costs, *rows), how), how.out);
}

exit_code measure(const wishes& how, const session& all) {
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
  return write(as_section({*measured}, how), how.out);
}

exit_code run(const wishes& how, const session& all) {
  if (how.table.empty() && how.from.path.empty())
    return say(exit_code::misused, "expected a topology, a model, or --from FILE");
  return how.table.empty() ? measure(how, all) : fit_table(how);
}

} // namespace

void add_calibrate(CLI::App& to, session& all) {
  auto how = std::make_shared<wishes>();
  auto* calibrate = to.add_subcommand(
    "calibrate", "Measure what batches cost on this machine, as [cost_model] in TOML");
  calibrate->footer(calibration_format);
  add_topology_arguments(*calibrate, how->from);
  auto* topology = calibrate->get_option("TOPOLOGY|MODEL.gguf")->required(false);
  calibrate
    ->add_option("--from", how->table,
                 "Fit the costs to this table of measurements, in place of measuring, "
                 "and show what they predict for each row")
    ->type_name("FILE.csv")
    ->excludes(topology);
  calibrate
    ->add_option(
      "--hardware", how->hardware,
      "Write [hardware.NAME], for modelled engines, in place of [cost_model]")
    ->check(is_name, "NAME")
    ->type_name("NAME");
  calibrate->add_flag("--quick", how->quick, "A second or so, as a start does it");
  calibrate->add_option("--out", how->out, "Where to write it; - is stdout")
    ->capture_default_str();
  calibrate->callback([how, &all] { all.left = run(*how, all); });
}

} // namespace perigee::app
