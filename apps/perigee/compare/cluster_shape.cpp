#include "apps/perigee/compare/cluster_shape.hpp"

#include <charconv>
#include <optional>
#include <string_view>

namespace perigee::app {
namespace {

using cluster::node;

/// But for where and what they are called.
bool is_alike(node a, const node& b) {
  a.name = b.name;
  a.address = b.address;
  return a == b;
}

void use_hardware(node& in, const std::string& hardware) {
  for (auto& one : in.prefill_groups)
    one.hardware = hardware;
  for (auto& one : in.decode_instances)
    one.hardware = hardware;
}

std::optional<std::string> find_missing(const cluster::topology& all,
                                        const std::string& hardware) {
  if (hardware.empty() || all.hardware.contains(hardware))
    return std::nullopt;
  std::string known;
  for (const auto& [name, cost] : all.hardware)
    known += (known.empty() ? "" : ", ") + name;
  return "there is no [hardware." + hardware + "]; there are: " + known;
}

/// Adds `one` to nodes that are called alike.
void add(cluster::topology& to, node one, char kind, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    one.name = kind + std::to_string(i);
    to.nodes.push_back(one);
  }
}

constexpr std::uint32_t count_max = 4096;

constexpr auto events_name_nodes = "its events name nodes, which can't be counted anew";

struct node_count {
  std::uint32_t first = 0;
  std::uint32_t decode = 0; ///< 0: there is no second kind.
};

std::optional<std::uint32_t> to_count(std::string_view text) {
  std::uint32_t count = 0;
  const auto* end = text.data() + text.size();
  auto read = std::from_chars(text.data(), end, count);
  bool good
    = read.ec == std::errc{} && read.ptr == end && count > 0 && count <= count_max;
  return good ? std::optional{count} : std::nullopt;
}

std::optional<node_count> to_node_count(std::string_view text) {
  auto plus = text.find('+');
  auto first = to_count(text.substr(0, plus));
  if (plus == std::string_view::npos)
    return first ? std::optional{node_count{*first}} : std::nullopt;
  auto decode = to_count(text.substr(plus + 1));
  return first && decode ? std::optional{node_count{*first, *decode}} : std::nullopt;
}

result<cluster::topology, std::string> with_coupled(const cluster::topology& all,
                                                    std::uint32_t count) {
  auto one = all.nodes.front();
  for (const auto& other : all.nodes)
    if (other.coupled_instances.empty() || !is_alike(other, one))
      return failure(std::string{"its nodes are not coupled instances that are alike: "
                                 "expected so many that prefill + so many that decode, "
                                 "such as 6+2"});
  auto made = all;
  made.nodes.clear();
  one.address.clear();
  add(made, one, 'v', count);
  made.cluster.control = made.nodes.front().name;
  return made;
}

} // namespace

result<cluster::topology, std::string> with_nodes(const cluster::topology& all,
                                                  const std::string& count) {
  auto wanted = to_node_count(count);
  if (!wanted)
    return failure("nodes is " + count + ": expected a number from 1 to "
                   + std::to_string(count_max) + ", or two with + between");
  if (!all.links.empty())
    return failure(std::string{"its links name nodes, which can't be counted anew"});
  if (!all.events.empty())
    return failure(std::string{events_name_nodes});
  if (wanted->decode == 0)
    return with_coupled(all, wanted->first);
  auto shape = cluster_shape::of(all, {});
  if (!shape)
    return failure(shape.error());
  return shape->make({wanted->first, wanted->decode});
}

result<cluster_shape, std::string> cluster_shape::of(const cluster::topology& all,
                                                     const std::string& hardware) {
  if (auto missing = find_missing(all, hardware))
    return failure(*missing);
  if (!all.events.empty())
    return failure(std::string{events_name_nodes});
  cluster_shape shape;
  shape.rest_ = all;
  shape.rest_.nodes.clear();
  if (!hardware.empty()) { // which the conductor believes in, too
    shape.rest_.hardware = {*all.hardware.find(hardware)};
    shape.rest_.cost_model.reset();
  }
  bool has_prefill = false, has_decode = false;
  for (const auto& one : all.nodes) {
    bool prefills = !one.prefill_groups.empty();
    if (prefills == !one.decode_instances.empty())
      return failure(one.name + " must either prefill or decode, to be counted");
    auto& like = prefills ? shape.prefill_ : shape.decode_;
    auto& has_one = prefills ? has_prefill : has_decode;
    if (has_one && !is_alike(one, like))
      return failure(one.name + " is not like " + like.name
                     + ": only nodes that are alike can be counted");
    like = one;
    has_one = true;
  }
  for (auto* one : {&shape.prefill_, &shape.decode_}) {
    one->address.clear();
    if (!hardware.empty())
      use_hardware(*one, hardware);
  }
  return shape;
}

cluster::topology cluster_shape::make(cluster_size size) const {
  auto made = rest_;
  add(made, prefill_, 'p', size.prefill);
  add(made, decode_, 'd', size.decode);
  made.cluster.control = made.nodes.front().name;
  return made;
}

} // namespace perigee::app
