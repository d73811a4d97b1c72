/// \file
/// node_keys: how a node proves its name, with a key of its own.
#pragma once

#include "actors/cluster/node_card.hpp"
#include "actors/cluster/topology.hpp"
#include "schemas/result.hpp"

#include <memory>
#include <string>

namespace perigee::app {

/// Where `perigee certs` puts what, and nodes look for it: files of `folder`.
struct key_files {
  std::string folder;

  std::string authority() const {
    return folder + "/ca.pem";
  }
  std::string certificate(const std::string& node) const {
    return folder + '/' + node + ".pem";
  }
  std::string certificate_key(const std::string& node) const {
    return folder + '/' + node + ".key";
  }

  /// The private half of what proves the name.
  std::string name_key(const std::string& node) const {
    return folder + '/' + node + ".name.key";
  }
};

/// Of the node `self` of `all`: Ed25519 signatures, by the keys that the topology
/// lists. If it lists none, names are not proved. Fails with a sentence: some nodes have
/// a key and others none, or our own cannot be read or is another one's.
result<std::shared_ptr<cluster::credentials>, std::string>
credentials_of(const cluster::topology& all, node_index self);

/// Random bytes that nobody can guess.
void draw_secret(std::byte* to, std::size_t bytes);

} // namespace perigee::app
