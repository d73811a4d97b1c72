/// \file
/// placement_cluster: what placement policies are shown in tests.
#pragma once

#include "actors/conductor/placement_policy.hpp"

namespace perigee::conductor::test {

using namespace std::chrono_literals;

inline constexpr node_index n0{0}, n1{1}, n2{2}, n3{3};
inline constexpr group_id g0{n0, 0}, g1{n1, 0}, g2{n2, 0};
inline constexpr instance_id d0{n0, 0}, d1{n1, 0};

/// A token takes 1 ms to compute, and 1 us to cross a link: 100 tokens are 100 ms or
/// 0.1 ms. A decode step takes 10 ms and 1 ms for each sequence.
inline const cost_model simple{.prefill = {0, 1e6, 0},
                               .decode = {10e6, 1e6, 0},
                               .link = {0, 1e6},
                               .disk = {0, 1e5},
                               .kv_token_bytes = 1};

/// Three idle groups and two idle instances, and a prompt of 1,000 tokens, ten to a
/// block.
struct cluster {
  cluster() {
    all.decode_time = 10s;
    all.prefills = {{g0, {}}, {g1, {}}, {g2, {}}};
    all.decodes = {{d0, {}}, {d1, {}}};
  }

  scene here() const {
    return {now, all, runs, simple, false, apart};
  }

  std::optional<plan> place(std::string_view name,
                            const placement_options& how = {}) const {
    return make_placement(name, how)->choose(one, here());
  }

  moment now = 100s;
  loads all;
  std::vector<run> runs;
  rifts apart;
  wish one{.prompt_tokens = 1000,
           .block_tokens = 10,
           .decodes = true,
           .ttft_limit = 2s,
           .tbt_limit = 20ms,
           .gateway = n3};
};

} // namespace perigee::conductor::test
