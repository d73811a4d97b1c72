#include "apps/perigee/command.hpp"
#include "apps/perigee/node_bell.hpp"

#include <cstdio>
#include <memory>

namespace perigee::app {
namespace {

struct drain_arguments {
  std::string node;
  std::string cluster = "perigee";
  std::uint32_t limit_s = 600;
};

exit_code run(const drain_arguments& how) {
  auto ended = ring(how.cluster, how.node, std::chrono::seconds{how.limit_s});
  if (!ended) {
    std::fprintf(stderr, "perigee: %s\n", ended.error().c_str());
    return exit_code::failed;
  }
  std::printf("%s is drained, and its process has ended\n", how.node.c_str());
  return exit_code::good;
}

} // namespace

void add_drain(CLI::App& to, session& all) {
  auto how = std::make_shared<drain_arguments>();
  auto* drain = to.add_subcommand(
    "drain", "Have a node of this host finish what it has, take nothing new, and end");
  drain->footer("Returns when its process has ended: cluster.drain_limit_ms is the "
                "longest that it goes on. SIGTERM to the process does the same. Start "
                "the node again, or another build of it, and it takes part again.");
  drain->add_option("NAME", how->node, "Which node, as the topology calls it")
    ->required();
  drain->add_option("--cluster", how->cluster, "Its cluster.name, in the topology")
    ->capture_default_str();
  drain->add_option("--limit-s", how->limit_s, "How long to wait for it")
    ->check(CLI::Range(1u, 86'400u))
    ->capture_default_str();
  drain->callback([how, &all] { all.left = run(*how); });
}

} // namespace perigee::app
