/// \file
/// node_card: who a process says it is, what must be the same in all of a cluster, and
/// how it proves that.
#pragma once

#include "schemas/node.capnp.h"
#include "schemas/vocabulary.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perigee::cluster {

using hash = std::array<std::byte, 32>;

/// What a node says of itself in Hello and Welcome.
struct node_card {
  std::string cluster;
  std::string node;
  node_index index{};
  std::uint64_t life = 0;
  hash topology{};
  hash model{};
  hash schema{};
  std::string build;
};

void write(schema::NodeCard::Builder to, const node_card& what);

/// What another process says, fit to stand in a log: whatever could break a line there
/// is a question mark.
std::string said(capnp::Text::Reader text);

/// Why who shows `theirs` can't be in the cluster of who has `ours`, as a sentence; or
/// nothing. `node` is the name that the topology has at the index that is shown; empty
/// if it has none.
std::optional<std::string>
misfit(const node_card& ours, schema::NodeCard::Reader theirs, std::string_view node);

using challenge = std::array<std::byte, 32>;
using proof = std::vector<std::byte>;

/// How nodes prove their names: each has a key of its own, whose public half all have.
/// One owner; need not be thread-safe.
class credentials {
public:
  virtual ~credentials() = default;

  /// What nobody can guess, and never the same again.
  virtual challenge draw() = 0;

  /// Empty if this cluster has no keys.
  virtual proof sign(std::string_view what) = 0;

  /// Whether the node `by` has signed `what`. True of anything if this cluster has no
  /// keys.
  virtual bool verify(node_index by, std::string_view what, const proof& shown) = 0;
};

/// What who has `prover`'s name signs for `to`, who gave the challenge. Of no use in
/// any other life of either, nor to anybody else.
std::string oath(const challenge& given, std::string_view prover,
                 std::uint64_t prover_life, std::string_view to, std::uint64_t to_life);

} // namespace perigee::cluster
