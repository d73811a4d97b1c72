#include "actors/cluster/handbook.hpp"
#include "actors/cluster/settings.hpp"
#include "apps/perigee/command.hpp"
#include "apps/perigee/model.hpp"
#include "apps/perigee/topology_source.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>

namespace perigee::app {
namespace {

using cluster::as_toml;

void print_room(const char* what, const std::string& node, cluster::byte_size bytes,
                const engine::kv_layout& layout) {
  auto tokens = bytes.bytes / layout.block_bytes() * layout.block_tokens;
  std::printf("#   %s of %s: %s holds %llu tokens\n", what, node.c_str(),
              as_toml(bytes).c_str(), static_cast<unsigned long long>(tokens));
}

/// As comments, for what is printed is a topology. A model need not be there yet; one
/// that is must be readable.
exit_code print_model(const cluster::topology& all) {
  auto outline = read_outline(all);
  if (!outline) {
    bool is_there = std::filesystem::exists(all.model.path);
    std::printf("\n# The model can't be served%s: %s\n", is_there ? "" : " yet",
                outline.error().c_str());
    return is_there ? exit_code::failed : exit_code::good;
  }
  const auto& [info, layout] = *outline;
  std::printf(
    "\n# The model: %s, architecture %s, %u layers, %u tokens of vocabulary, a "
    "context of %u tokens.\n# A token's KV takes %zu bytes:\n",
    info.name.c_str(), info.architecture.c_str(), info.layers, info.vocabulary,
    info.context_tokens_max, layout.block_bytes() / layout.block_tokens);
  for (const auto& node : all.nodes) {
    for (const auto& group : node.prefill_groups)
      print_room("a prefill arena", node.name, group.arena, layout);
    for (const auto& instance : node.decode_instances)
      print_room("a decode arena", node.name, instance.arena, layout);
    for (const auto& instance : node.coupled_instances)
      print_room("a coupled arena", node.name, instance.arena, layout);
    if (node.cache_shard)
      print_room("the cache shard", node.name, node.cache_shard->dram, layout);
  }
  return exit_code::good;
}

} // namespace

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
    all.left = print_model(*found);
  });
}

} // namespace perigee::app
