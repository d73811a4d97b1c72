#include "actors/cluster/idleness.hpp"

#include "actors/cache_shard/probe.hpp"
#include "schemas/assert.hpp"

#include <algorithm>
#include <string_view>

namespace perigee::cluster {
namespace {

template <class Probe>
std::uint64_t sum_of(const probes::each<Probe>& all,
                     std::initializer_list<std::string_view> wanted) {
  std::uint64_t sum = 0;
  for (const auto& [where, one] : all) {
    std::size_t found = 0;
    one->each([&](std::string_view name, const char*, auto value) {
      if (std::ranges::find(wanted, name) == wanted.end())
        return;
      sum += static_cast<std::uint64_t>(value);
      ++found;
    });
    PERIGEE_ASSERT(found == wanted.size(), "each number is called that");
  }
  return sum;
}

} // namespace

bool is_idle(const probes& of) {
  return sum_of(of.prefills, {"requests", "moves", "pool_questions"})
           + sum_of(of.decodes, {"requests", "moves", "pool_questions"})
           + sum_of(of.coupleds, {"requests"})
           + sum_of(of.transfers, {"movements_open"})
           + sum_of(of.shards, {"blocks_leased", "blocks_writing"})
         == sum_of(of.shards, {"blocks_withheld"}); // those are written by nobody
}

} // namespace perigee::cluster
