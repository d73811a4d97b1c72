#include "actors/cluster/node_card.hpp"

#include <algorithm>
#include <cstring>

namespace perigee::cluster {
namespace {

bool equals(const hash& ours, capnp::Data::Reader theirs) {
  return theirs.size() == ours.size()
         && std::memcmp(ours.data(), theirs.begin(), ours.size()) == 0;
}

capnp::Data::Reader data_of(const hash& of) {
  return {reinterpret_cast<const capnp::byte*>(of.data()), of.size()};
}

} // namespace

std::string said(capnp::Text::Reader text) {
  std::string shown{text.cStr(), text.size()};
  std::ranges::replace_if(
    shown, [](char one) { return one < ' ' || one > '~' || one == '"'; }, '?');
  return shown;
}

void write(schema::NodeCard::Builder to, const node_card& what) {
  to.setCluster(what.cluster);
  to.setNode(what.node);
  to.setIndex(static_cast<std::uint32_t>(what.index));
  to.setLife(what.life);
  to.setTopology(data_of(what.topology));
  to.setModel(data_of(what.model));
  to.setSchema(data_of(what.schema));
  to.setBuild(what.build);
}

std::optional<std::string>
misfit(const node_card& ours, schema::NodeCard::Reader theirs, std::string_view node) {
  auto builds = " (builds " + ours.build + " and " + said(theirs.getBuild()) + ")";
  if (said(theirs.getCluster()) != ours.cluster)
    return "cluster " + said(theirs.getCluster()) + ", expected " + ours.cluster;
  if (!equals(ours.schema, theirs.getSchema()))
    return "the messages' descriptions differ: expected the same version of the program"
           + builds;
  if (!equals(ours.topology, theirs.getTopology()))
    return std::string{"the topologies differ: expected the same file on every node"};
  if (!equals(ours.model, theirs.getModel()))
    return std::string{"the models differ: expected the same weights on every node"};
  if (node.empty() || said(theirs.getNode()) != node)
    return "node " + said(theirs.getNode()) + ", expected "
           + (node.empty() ? "one of the topology" : std::string{node});
  if (theirs.getIndex() == static_cast<std::uint32_t>(ours.index))
    return "node " + ours.node + " is the one that was asked: expected another";
  if (theirs.getLife() == 0)
    return std::string{"life 0, expected at least 1"};
  return std::nullopt;
}

std::string oath(const challenge& given, std::string_view prover,
                 std::uint64_t prover_life, std::string_view to,
                 std::uint64_t to_life) {
  std::string text{"perigee node\n"};
  text.append(reinterpret_cast<const char*>(given.data()), given.size());
  auto add = [&](std::string_view name, std::uint64_t life) {
    text += '\n';
    text += name;
    text += '@';
    text += std::to_string(life);
  };
  add(prover, prover_life);
  add(to, to_life);
  return text;
}

} // namespace perigee::cluster
