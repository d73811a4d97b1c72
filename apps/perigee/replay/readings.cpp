#include "apps/perigee/replay/readings.hpp"

#include "actors/conductor/holdings.hpp"
#include "apps/perigee/replay/trace_clients.hpp"

#include <algorithm>

namespace perigee::app {
namespace {

using conductor::reason;
using numbers = std::function<std::uint64_t()>;

/// The sum of what `read` reads of every probe in `all`.
template <class Probe, class Read>
numbers sum_of(const cluster::probes::each<Probe>& all, Read read) {
  return [&all, read] {
    std::uint64_t sum = 0;
    for (const auto& [where, probe] : all)
      sum += read(*probe);
    return sum;
  };
}

void add_loads(std::vector<reading>& to, const cluster::probes& of) {
  to.push_back({"load_permille", "prefill", sum_of(of.rejectors, [](const auto& one) {
                  return one.prefill_load_permille();
                })});
  to.push_back({"load_permille", "decode", sum_of(of.rejectors, [](const auto& one) {
                  return one.decode_load_permille();
                })});
  auto requests = [](const auto& one) { return one.requests(); };
  to.push_back({"requests", "prefill", sum_of(of.prefills, requests)});
  to.push_back({"requests", "decode", sum_of(of.decodes, requests)});
}

void add_rejections(std::vector<reading>& to, const cluster::probes& of) {
  auto add = [&](const char* name, const auto& stage, reason why) {
    to.push_back({"rejected", name, sum_of(stage, [why](const auto& one) {
                    return one.refused_total(why);
                  })});
  };
  add("rejector_prefill_load", of.rejectors, reason::prefill_load);
  add("rejector_decode_load", of.rejectors, reason::decode_load);
  add("rejector_no_instance", of.rejectors, reason::no_instance);
  add("conductor_prefill_load", of.conductors, reason::prefill_load);
  add("conductor_decode_load", of.conductors, reason::decode_load);
  add("conductor_queue_full", of.conductors, reason::queue_full);
  add("conductor_no_instance", of.conductors, reason::no_instance);
  to.push_back({"rejected", "decode_recheck", sum_of(of.decodes, [](const auto& one) {
                  return one.refused_total();
                })});
}

numbers both(numbers one, numbers other) {
  return [one = std::move(one), other = std::move(other)] { return one() + other(); };
}

void add_tokens(std::vector<reading>& to, const cluster::probes& of) {
  auto computed = [](const auto& one) { return one.tokens_computed_total(); };
  to.push_back({"prompt_tokens", "computed",
                both(sum_of(of.prefills, computed), sum_of(of.coupleds, computed))});
  using prefill::origin;
  auto reused = [&](origin from) {
    return sum_of(of.prefills,
                  [from](const auto& one) { return one.tokens_reused_total(from); });
  };
  auto add = [&](const char* name, origin from) {
    to.push_back({"prompt_tokens", name, reused(from)});
  };
  to.push_back({"prompt_tokens", "vram",
                both(reused(origin::vram), sum_of(of.coupleds, [](const auto& one) {
                       return one.tokens_reused_total();
                     }))});
  add("dram", origin::dram);
  add("ssd", origin::ssd);
  add("remote", origin::remote);
}

/// A node's engines are numbered through: those of its prefill groups come first.
void add_engines(std::vector<reading>& to, const virtual_cluster& of,
                 const cluster::topology& all) {
  auto add = [&](const char* group, const std::string& node, const char* role,
                 std::size_t index, std::size_t engine) {
    auto found = of.counts().engines.find({node, static_cast<std::uint32_t>(engine)});
    if (found != of.counts().engines.end())
      to.push_back({group, node + '/' + role + '.' + std::to_string(index),
                    [&of, probe = found->second, most = std::uint64_t{0}]() mutable {
                      most = std::max(most, probe->busy_ns(of.now()));
                      return most; // of one that has died it may be less than it was
                    }});
  };
  for (const auto& node : all.nodes)
    for (std::size_t i = 0; i < node.prefill_groups.size(); ++i)
      add("prefill_busy_ns", node.name, "prefill", i, i);
  for (const auto& node : all.nodes)
    for (std::size_t i = 0; i < node.decode_instances.size(); ++i)
      add("decode_busy_ns", node.name, "decode", i, node.prefill_groups.size() + i);
  for (const auto& node : all.nodes)
    for (std::size_t i = 0; i < node.coupled_instances.size(); ++i)
      add("coupled_busy_ns", node.name, "coupled", i, i);
}

void add_links(std::vector<reading>& to, const cluster::probes& of) {
  for (const auto& [where, probe] : of.transfers)
    to.push_back({"bytes_moved", where.first,
                  [probe = probe] { return probe->bytes_moved_total(); }});
}

std::uint64_t holders_of(block_key key, const cluster::probes& of) {
  std::uint64_t most = 0;
  for (const auto& [where, probe] : of.conductors)
    if (const auto* index = probe->index())
      most = std::max<std::uint64_t>(most, index->runs({&key, 1}).size());
  return most;
}

} // namespace

std::vector<reading> readings_of(const virtual_cluster& of,
                                 const cluster::topology& all) {
  std::vector<reading> some;
  add_loads(some, of.counts());
  add_rejections(some, of.counts());
  add_tokens(some, of.counts());
  add_engines(some, of, all);
  add_links(some, of.counts());
  if (!all.events.empty())
    some.push_back({"placed_again", "requests",
                    sum_of(of.counts().gateways,
                           [](const auto& one) { return one.placed_again_total(); })});
  return some;
}

std::vector<reading> replicas_of(const virtual_cluster& of, key_ranks& asked_for) {
  std::vector<reading> some;
  for (std::size_t rank : {10, 100, 1'000, 10'000})
    some.push_back(
      {"replicas", "rank_" + std::to_string(rank), [&of, &asked_for, rank] {
         auto id = asked_for.at(rank);
         return id ? holders_of(key_of(*id), of.counts()) : 0;
       }});
  return some;
}

} // namespace perigee::app
