#include "actors/cluster/handbook.hpp"
#include "apps/perigee/command.hpp"
#include "apps/perigee/topology_source.hpp"

#include <cstdio>
#include <memory>

namespace perigee::app {

void add_check(CLI::App& to, session& all) {
  auto from = std::make_shared<topology_source>();
  auto* check = to.add_subcommand(
    "check",
    "Say whether a topology is right, and print it with all that it leaves out");
  add_topology_arguments(*check, *from);
  check->callback([from, &all] {
    auto found = load(*from);
    if (!found) {
      all.left = exit_code::misused;
      return;
    }
    std::fputs(cluster::resolved(*found).c_str(), stdout);
  });
}

} // namespace perigee::app
