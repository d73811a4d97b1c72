/// \file
/// The cache shard: one node's part of the KVCache pool.
#pragma once

#include "actors/cache_shard/dram_arena.hpp"
#include "actors/cache_shard/probe.hpp"
#include "actors/interfaces.hpp"
#include "actors/runtime/world.hpp"
#include "transport/disk/disk.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace perigee::shard {

struct options {
  std::string eviction = "lru"; ///< One of eviction_policy_names().

  /// How long a reader may read, and a writer may write.
  std::chrono::milliseconds lease_limit{10'000};
  std::chrono::milliseconds grant_limit{600'000};

  /// How long a movement takes at most: a reader that began in time may go on reading
  /// for so long after its lease.
  std::chrono::milliseconds transfer_limit{5'000};

  /// How long a transfer actor may take to end a dead writer's movements before it is
  /// asked again.
  std::chrono::milliseconds quiesce_limit{1'000};

  /// Open at once, each. Who asks for more is told `busy`.
  std::size_t leases_max = 4096;
  std::size_t grants_max = 4096;

  /// With a disk: who asks for blocks that are there waits so long for them at most,
  /// and a little less than they wait; so many do at once.
  std::chrono::milliseconds climb_limit{5'000};
  std::size_t climbs_max = 256;

  /// With a disk: so many blocks of memory are kept free, by writing others there.
  std::size_t spare_blocks = 16;

  /// Who is told what is stored and evicted, and how often at most.
  conductor_name conductor{};
  std::chrono::milliseconds news_every{100};
};

/// As a journal keeps them: "eviction=lru lease_limit_ms=10000 ...".
std::string to_string(const options& how);

/// Starts a node's shard at `where`, over `arena`, which is its own. One per node. A
/// restarted one begins empty, over an arena of its own, for nobody knows what is in
/// the old one. Counts into `counts`. `below` is where blocks go that memory has no room
/// for, and come back from; null: nowhere.
shard_actor start(const rt::world& in, rt::place where,
                  std::shared_ptr<dram_arena> arena, options how = {},
                  std::shared_ptr<probe> counts = std::make_shared<probe>(),
                  std::shared_ptr<transport::disk> below = nullptr);

} // namespace perigee::shard
