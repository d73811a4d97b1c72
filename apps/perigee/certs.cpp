#include "apps/perigee/certificates.hpp"
#include "apps/perigee/command.hpp"
#include "apps/perigee/topology_source.hpp"

#include <cstdio>
#include <memory>

namespace perigee::app {
namespace {

struct certs_arguments {
  topology_source topology;
  std::string folder = "certs";
  long days = 365;
};

exit_code run(const certs_arguments& how) {
  auto topology = load(how.topology);
  if (!topology)
    return exit_code::misused;
  auto made = make_certificates(*topology, how.folder, how.days);
  if (!made) {
    std::fprintf(stderr, "perigee certs: %s\n", made.error().c_str());
    return exit_code::failed;
  }
  std::printf(
    "# For the topology, on every node. Give each node of %s/ only ca.pem and "
    "its own files.\n[network]\ntls = \"%s\"\n",
    how.folder.c_str(), how.folder.c_str());
  for (const auto& [node, half] : *made)
    std::printf("\n# of [[node]] name = \"%s\"\nkey = \"%s\"\n", node.c_str(),
                half.c_str());
  return exit_code::good;
}

} // namespace

void add_certs(CLI::App& to, session& all) {
  auto how = std::make_shared<certs_arguments>();
  auto* certs = to.add_subcommand(
    "certs",
    "Make an authority, and certificates and keys for the nodes of a topology");
  add_topology_arguments(*certs, how->topology);
  certs->add_option("--out", how->folder, "The folder to fill")->capture_default_str();
  certs->add_option("--days", how->days, "How long they are good")
    ->check(CLI::Range(1L, 3650L))
    ->capture_default_str();
  certs->callback([how, &all] { all.left = run(*how); });
}

} // namespace perigee::app
