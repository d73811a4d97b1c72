#include "actors/cluster/topology_reader.hpp"

#include "actors/cluster/complaint_book.hpp"
#include "actors/cluster/settings.hpp"
#include "actors/cluster/topology_check.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>

namespace perigee::cluster {
namespace {

using names = std::vector<std::string>;
using code = bad_input::code;

/// Nothing for what no setting may be.
std::optional<written> to_written(const toml::node& node) {
  if (const auto* text = node.as_string())
    return written{text->get()};
  if (const auto* number = node.as_integer())
    return written{number->get()};
  if (const auto* number = node.as_floating_point())
    return written{number->get()};
  if (const auto* flag = node.as_boolean())
    return written{flag->get()};
  const auto* list = node.as_array();
  if (!list || !(list->empty() || list->is_homogeneous(toml::node_type::string)))
    return std::nullopt;
  names texts;
  for (const auto& item : *list)
    texts.push_back(item.as_string()->get());
  return written{texts};
}

std::string shown(const toml::node& node) {
  if (auto value = to_written(node))
    return shown(*value);
  if (node.is_table())
    return "a table";
  return node.is_array() ? "a list" : "a date or a time";
}

unsigned line_of(const toml::node& node) {
  return node.source().begin.line;
}

template <class Section>
names keys_of() {
  names keys;
  for (const auto& one : settings_of<Section>())
    keys.push_back(one.key);
  return keys;
}

template <class Section>
const setting<Section>* find_setting(const std::string& key) {
  for (const auto& one : settings_of<Section>())
    if (one.key == key)
      return &one;
  return nullptr;
}

/// The nearest that a text may be, where it is one of several.
template <class Section>
std::string nearest_value(const setting<Section>& what, const written& given) {
  const auto* choice = std::get_if<one_of>(&what.allowed);
  const auto* text = std::get_if<std::string>(&given.value);
  return choice && text ? nearest(*text, choice->names) : "";
}

class reader {
public:
  explicit reader(const reading& how) : how_(how), wrong_(how.file) {}

  void read_file(const toml::table& file) {
    const names others{"node", "link", "event", "hardware", "cost_model"};
    for (const auto& [name, node] : file) {
      std::string key{name.str()};
      if (!is_plain_section(key)
          && std::find(others.begin(), others.end(), key) == others.end())
        wrong_.refuse_key(key, line_of(node), section_names(others));
    }
    for_each_plain_section(all_, [&](const char* name, auto& section) {
      if (const auto* node = file.get(name))
        read_table(*node, name, section, tables_in(name));
    });
    if (const auto* node = file.at_path("model.shape").node())
      read_table(*node, "model.shape", all_.model_shape.emplace());
    place_files();
    if (const auto* node = file.get("cost_model"))
      read_table(*node, "cost_model", all_.cost_model.emplace());
    if (const auto* node = file.get("hardware"))
      read_hardware(*node);
    if (const auto* node = file.get("node"))
      for_each_table(*node, "node", nodes_max,
                     [&](const auto& table, auto path) { read_node(table, path); });
    if (const auto* node = file.get("link"))
      for_each_table(*node, "link", links_max, [&](const auto& table, auto path) {
        read_table(table, path, all_.links.emplace_back());
      });
    if (const auto* node = file.get("event"))
      for_each_table(*node, "event", events_max, [&](const auto& table, auto path) {
        read_table(table, path, all_.events.emplace_back());
      });
  }

  void start_from(topology base) {
    all_ = std::move(base);
    node_paths_.assign(all_.nodes.size(), "node");
  }

  void read_overrides() {
    for (const auto& one : how_.overrides) {
      bool known = false;
      for_each_plain_section(all_, [&](const std::string& name, auto& section) {
        auto prefix = name + '.';
        if (one.key.starts_with(prefix))
          known = override_one(one, one.key.substr(prefix.size()), section);
      });
      if (!known)
        wrong_.refuse_key_from(one.from, one.key, {});
    }
  }

  result<topology, complaints> finish() {
    if (all_.cluster.control.empty() && !all_.nodes.empty())
      all_.cluster.control = all_.nodes.front().name;
    if (wrong_.empty())
      for (const auto& one : contradictions(all_, how_.engines))
        add_contradiction(one);
    if (wrong_.empty())
      return std::move(all_);
    return failure(wrong_.take());
  }

private:
  void refuse_value(const std::string& path, const toml::node& node,
                    const std::string& wanted, const std::string& near = {}) {
    wrong_.refuse_value(path, line_of(node), {shown(node), wanted, near});
  }

  void add_contradiction(const contradiction& one) {
    auto path = one.key, key = one.key;
    if (one.node) {
      path = node_paths_[*one.node] + '.' + one.key;
      key = "node." + all_.nodes[*one.node].name + '.' + one.key;
    }
    wrong_.contradict(path, key, {one.found, one.expected, one.nearest});
  }

  // -- sections ---------------------------------------------------------------

  static names tables_in(const std::string& section) {
    return section == "model" ? names{"shape"} : names{};
  }

  bool is_plain_section(const std::string& key) {
    bool found = false;
    for_each_plain_section(
      all_, [&](const std::string& name, auto&) { found = found || name == key; });
    return found;
  }

  names section_names(names others) {
    for_each_plain_section(
      all_, [&](const std::string& name, auto&) { others.push_back(name); });
    return others;
  }

  /// `nested` are the keys in it that somebody else reads.
  template <class Section>
  void read_table(const toml::node& node, const std::string& path, Section& into,
                  const names& nested = {}) {
    wrong_.stands(path, line_of(node));
    const auto* table = node.as_table();
    if (!table)
      return refuse_value(path, node, "a table");
    for (const auto& [name, value] : *table) {
      std::string key{name.str()};
      if (std::find(nested.begin(), nested.end(), key) != nested.end())
        continue;
      auto full = path;
      full += '.';
      full += key;
      wrong_.stands(full, line_of(value));
      if (const auto* what = find_setting<Section>(key)) {
        auto given = to_written(value);
        if (!given || !assign(*what, *given, into))
          refuse_value(full, value, expected(*what),
                       given ? nearest_value(*what, *given) : "");
        continue;
      }
      auto near = keys_of<Section>();
      near.insert(near.end(), nested.begin(), nested.end());
      wrong_.refuse_key(full, line_of(value), near);
    }
  }

  template <class See>
  void for_each_table(const toml::node& node, const std::string& path, std::size_t most,
                      See see) {
    wrong_.stands(path, line_of(node));
    const auto* list = node.as_array();
    if (!list || list->size() > most || !list->is_homogeneous(toml::node_type::table)) {
      if (list && list->empty())
        return;
      return refuse_value(path, node,
                          "a list of at most " + std::to_string(most) + " tables");
    }
    for (std::size_t i = 0; i < list->size(); ++i)
      see((*list)[i], path + '[' + std::to_string(i) + ']');
  }

  void read_hardware(const toml::node& node) {
    const auto* kinds = node.as_table();
    if (!kinds)
      return refuse_value("hardware", node, "tables, each as [hardware.NAME]");
    for (const auto& [name, costs] : *kinds) {
      std::string key{name.str()};
      read_table(costs, "hardware." + key, all_.hardware[key]);
    }
  }

  // -- nodes ------------------------------------------------------------------

  void read_node(const toml::node& table, const std::string& path) {
    node one;
    const names nested{"count", "cache_shard", "prefill_group", "decode_instance",
                       "coupled_instance"};
    read_table(table, path, static_cast<node_settings&>(one), nested);
    const auto& parts = *table.as_table();
    if (const auto* shard = parts.get("cache_shard"))
      read_shard(*shard, path + ".cache_shard", one.cache_shard.emplace());
    if (const auto* groups = parts.get("prefill_group"))
      read_owners(*groups, path + ".prefill_group", one.prefill_groups);
    if (const auto* instances = parts.get("decode_instance"))
      read_owners(*instances, path + ".decode_instance", one.decode_instances);
    if (const auto* instances = parts.get("coupled_instance"))
      read_owners(*instances, path + ".coupled_instance", one.coupled_instances);
    if (!one.prefill_groups.empty() || !one.decode_instances.empty())
      if (!one.cache_shard)
        one.cache_shard.emplace();
    add_nodes(parts, path, std::move(one));
  }

  void read_shard(const toml::node& node, const std::string& path,
                  cache_shard_settings& into) {
    read_table(node, path, into, {"ssd"});
    const auto* table = node.as_table();
    if (const auto* ssd = table ? table->get("ssd") : nullptr)
      read_table(*ssd, path + ".ssd", into.ssd.emplace());
  }

  template <class Owner>
  void read_owners(const toml::node& node, const std::string& path,
                   std::vector<Owner>& into) {
    for_each_table(node, path, owners_per_node_max, [&](const auto& table, auto where) {
      read_table(table, where, into.emplace_back());
    });
  }

  /// One, or `count` of them.
  void add_nodes(const toml::table& parts, const std::string& path, node one) {
    const auto* several = parts.get("count");
    std::uint64_t copies = 1;
    if (several) {
      const bounds allowed = between{1, static_cast<double>(nodes_max)};
      auto given = to_written(*several);
      if (!given || !assign(*given, allowed, copies))
        return refuse_value(path + ".count", *several, expected(allowed, copies));
      if (!one.address.empty())
        return refuse_value(path + ".count", *several,
                            "no count where there is an address");
    }
    if (all_.nodes.size() + copies > nodes_max)
      return refuse_value(path, parts,
                          "at most " + std::to_string(nodes_max) + " nodes in all");
    auto stem = one.name;
    for (std::uint64_t i = 0; i < copies; ++i) {
      if (several)
        one.name = stem + std::to_string(i);
      all_.nodes.push_back(one);
      node_paths_.push_back(path);
    }
  }

  // -- from outside -----------------------------------------------------------

  /// Relative to the file that names them.
  void place_files() {
    place(all_.model.path);
    place(all_.network.tls);
  }

  void place(std::string& file) {
    std::filesystem::path path = file;
    if (!path.empty() && path.is_relative())
      file = (std::filesystem::path{how_.file}.parent_path() / path)
               .lexically_normal()
               .string();
  }

  /// False if there is no such key.
  template <class Section>
  bool override_one(const override_& one, const std::string& key, Section& into) {
    const auto* what = find_setting<Section>(key);
    if (!what) {
      wrong_.refuse_key_from(one.from, one.key, keys_of<Section>());
      return true; // said
    }
    written given{one.text, true};
    if (!assign(*what, given, into))
      wrong_.refuse_value_from(
        one.from, one.key,
        {shown(given), expected(*what), nearest_value(*what, given)});
    wrong_.comes_from(one.key, one.from);
    return true;
  }

  const reading& how_;
  topology all_;
  complaint_book wrong_;
  std::vector<std::string> node_paths_; // of all_.nodes, in the file
};

complaints one_complaint(bad_input wrong) {
  return {std::move(wrong)};
}

} // namespace

result<topology, complaints> read_topology(std::string_view text, const reading& how) {
  if (text.size() > topology_bytes_max)
    return failure(one_complaint(
      {code::unreadable, how.file, 0, {}, {}, "a file of at most 1 MiB", {}}));
  try {
    auto file = toml::parse(text, how.file);
    reader read{how};
    read.read_file(file);
    read.read_overrides();
    return read.finish();
  } catch (const toml::parse_error& wrong) {
    return failure(one_complaint({code::syntax,
                                  how.file,
                                  wrong.source().begin.line,
                                  {},
                                  std::string{wrong.description()},
                                  "TOML",
                                  {}}));
  }
}

result<topology, complaints> adjust(topology base, const reading& how) {
  reader read{how};
  read.start_from(std::move(base));
  read.read_overrides();
  return read.finish();
}

} // namespace perigee::cluster
