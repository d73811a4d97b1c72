/// \file
/// What actors of a cluster hold although nothing is open.
#pragma once

#include "actors/cluster/inventory.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace perigee::test {

/// Nothing, if all is well: nobody has had a request for longer than any lease.
inline std::vector<std::string> left_over(const cluster::probes& all) {
  std::vector<std::string> found;
  auto look = [&](const char* role, const auto& some, auto... names) {
    for (const auto& [seat, probe] : some)
      probe->each([&, &where = seat.first](std::string_view name, std::string_view,
                                           std::uint64_t value) {
        if (value > 0 && ((name == names) || ...))
          found.push_back(where + ' ' + role + ' ' + std::string{name} + ' '
                          + std::to_string(value));
      });
  };
  look("prefill", all.prefills, "requests", "waiting", "moves", "pool_questions",
       "deadlines", "blocks_used");
  look("decode", all.decodes, "requests", "sequences", "waiting", "parked", "moves",
       "pool_questions", "deadlines", "blocks_used");
  look("coupled", all.coupleds, "requests", "sequences", "waiting", "deadlines",
       "blocks_used");
  look("shard", all.shards, "blocks_writing", "blocks_leased", "blocks_kept",
       "blocks_ssd_moving");
  look("transfer", all.transfers, "movements_open");
  look("fabric", all.fabrics, "flows_open");
  look("engine", all.engines, "forwards_open");
  look("conductor", all.conductors, "requests");
  return found;
}

} // namespace perigee::test
