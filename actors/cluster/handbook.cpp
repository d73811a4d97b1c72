#include "actors/cluster/handbook.hpp"

#include "actors/cluster/settings.hpp"

#include <sstream>

namespace perigee::cluster {
namespace {

constexpr std::size_t width = 88;

/// `text` in lines that begin with `prefix`.
std::string wrapped(const std::string& text, const std::string& prefix) {
  std::string all, line;
  std::istringstream words{text};
  for (std::string word; words >> word;) {
    if (!line.empty() && prefix.size() + line.size() + 1 + word.size() > width) {
      all += prefix + line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return all + prefix + line + '\n';
}

const char* note_of(const std::string& section) {
  static const std::map<std::string, const char*> notes{
    {"cluster", "The cluster as a whole."},
    {"model", "What is served."},
    {"slo", "The objectives that placement and admission keep. A request may bring its "
            "own, by the headers `x-slo-ttft-ms` and `x-slo-tpot-ms`."},
    {"policy", "How the cluster decides."},
    {"limits", "How much is taken on, and how long anything may take."},
    {"http", "Who may ask."},
    {"network",
     "Between the processes of a cluster, where each node is one: `perigee node`."},
    {"fabric", "The network between nodes, where engines are modelled. Movements share "
               "network cards and core fairly: none could be faster unless one that is "
               "no faster were slower."},
  };
  return notes.at(section);
}

// -- a file to start from -----------------------------------------------------

template <class Section>
void write_settings(std::string& text, const Section& section) {
  const Section defaults{};
  for (const auto& one : settings_of<Section>()) {
    auto value = as_toml(one, section);
    bool is_default = value == as_toml(one, defaults);
    text += '\n' + wrapped(one.sentence + " (" + expected(one) + ")", "# ");
    text += (is_default ? "# " : "") + one.key + " = " + value + '\n';
  }
}

template <class Section>
std::string inline_table(const Section& section) {
  const Section defaults{};
  std::string text;
  for (const auto& one : settings_of<Section>()) {
    auto value = as_toml(one, section);
    if (value != as_toml(one, defaults))
      text += (text.empty() ? "" : ", ") + one.key + " = " + value;
  }
  return text.empty() ? "{}" : "{ " + text + " }";
}

template <class Section>
void write_list(std::string& text, const char* key, const std::vector<Section>& all) {
  if (all.empty())
    return;
  text += std::string{key} + " = [";
  for (std::size_t i = 0; i < all.size(); ++i)
    text += (i == 0 ? " " : ", ") + inline_table(all[i]);
  text += " ]\n";
}

template <class Section>
void write_options(std::string& text, const char* of) {
  text += wrapped(std::string{of} + " may have:", "# ");
  const Section defaults{};
  for (const auto& one : settings_of<Section>())
    text += wrapped(one.key + " = " + as_toml(one, defaults) + ": " + one.sentence,
                    "#   ");
}

/// With the SSD, if it has one; `write` makes a table of either.
template <class Write>
std::string shard_table(const cache_shard_settings& of, Write write) {
  auto text = write(of);
  if (!of.ssd)
    return text;
  auto ssd = "ssd = " + write(*of.ssd) + " }";
  bool is_empty = text == "{}";
  text.resize(is_empty ? 1 : text.size() - 2); // without the brace
  return text + (is_empty ? " " : ", ") + ssd;
}

void write_node(std::string& text, const node& one) {
  text += "\n[[node]]\n";
  text += "name = " + as_toml(one.name) + '\n';
  if (!one.address.empty())
    text += "address = " + as_toml(one.address) + '\n';
  if (!one.key.empty())
    text += "key = " + as_toml(one.key) + '\n';
  if (!one.rdma_devices.empty())
    text += "rdma_devices = " + as_toml(one.rdma_devices) + '\n';
  if (one.cache_shard)
    text += "cache_shard = "
            + shard_table(*one.cache_shard,
                          [](const auto& section) { return inline_table(section); })
            + '\n';
  write_list(text, "prefill_group", one.prefill_groups);
  write_list(text, "decode_instance", one.decode_instances);
  write_list(text, "coupled_instance", one.coupled_instances);
}

// -- a file with all that it leaves out ---------------------------------------

template <class Section>
void write_all(std::string& text, const std::string& title, const Section& section) {
  text += (text.empty() ? "" : "\n") + title + '\n';
  for (const auto& one : settings_of<Section>())
    text += one.key + " = " + as_toml(one, section) + '\n';
}

template <class Section>
std::string full_table(const Section& section) {
  std::string text;
  for (const auto& one : settings_of<Section>())
    text += (text.empty() ? "" : ", ") + one.key + " = " + as_toml(one, section);
  return "{ " + text + " }";
}

template <class Section>
void write_each(std::string& text, const char* key, const std::vector<Section>& all) {
  if (all.empty())
    return;
  text += std::string{key} + " = [\n";
  for (const auto& one : all)
    text += "  " + full_table(one) + ",\n";
  text += "]\n";
}

// -- the handbook -------------------------------------------------------------

/// A line break would end the row, and a bar the cell.
std::string in_cell(const std::string& text) {
  std::string cell;
  for (char letter : text)
    cell += letter == '|' ? std::string{"\\|"} : std::string{letter};
  return cell;
}

template <class Section>
void write_rows(std::string& text) {
  const Section defaults{};
  text += "\n| key | default | what it may be | what it is for |\n|---|---|---|---|\n";
  for (const auto& one : settings_of<Section>())
    text += "| `" + one.key + "` | `" + in_cell(as_toml(one, defaults)) + "` | "
            + in_cell(expected(one)) + " | " + in_cell(one.sentence) + " |\n";
}

const char* const page_opening = R"(# The topology file

A topology file says what a cluster is made of: `perigee serve topology.toml`. It is
[TOML](https://toml.io). This page is made by `perigee init --handbook` from the same table
that the reader uses, so it can't be out of date.

Every key has a default, but for `model.path`. A key that does not exist, a value of the
wrong type or out of its bounds, and values that do not fit together stop the program before
it starts; the error names file, line, key, what was expected, and the nearest valid name.

What stands in the file is overruled by the environment, and that by the command line:

| | |
|---|---|
| file | `[slo]` `ttft_ms = 500` |
| environment | `PERIGEE_SLO_TTFT_MS=500` |
| command line | `--set slo.ttft_ms=500` |

This holds for the sections that stand once, from `[cluster]` to `[fabric]`. Sizes are written as
`"512MiB"`, with B, KiB, MiB, GiB or TiB. A relative path in a file begins at that file's
folder.

`perigee init` writes a file to start from, `perigee check` says what a file means.
)";

} // namespace

std::string to_toml(const topology& all) {
  auto text
    = wrapped("A Perigee cluster. What begins with # has its default: remove the "
              "# to change it. `perigee check FILE` says what a file means.",
              "# ");
  for_each_plain_section(all, [&](const std::string& name, const auto& section) {
    text += '\n' + wrapped(note_of(name), "# ") + '[' + name + "]\n";
    write_settings(text, section);
  });
  if (all.model_shape) {
    text += "\n# The KV of a model that is modelled.\n[model.shape]\n";
    write_settings(text, *all.model_shape);
  }
  if (all.cost_model)
    text += '\n' + to_toml(*all.cost_model);
  for (const auto& [name, costs] : all.hardware) {
    text += "\n# Hardware that modelled engines stand for.\n[hardware." + as_toml(name)
            + "]\n";
    write_settings(text, costs);
  }
  text += "\n# A [[node]] for each machine, with what runs there.\n";
  write_options<cache_shard_settings>(text, "A cache_shard");
  write_options<ssd_settings>(text, "Its ssd");
  write_options<prefill_group_settings>(text, "A prefill_group");
  write_options<decode_instance_settings>(text, "A decode_instance");
  write_options<coupled_instance_settings>(text,
                                           "A coupled_instance, in place of both,");
  for (const auto& one : all.nodes)
    write_node(text, one);
  for (const auto& one : all.links) {
    text += "\n[[link]]\n";
    write_settings(text, one);
  }
  for (const auto& one : all.events) {
    text += "\n[[event]]\n";
    write_settings(text, one);
  }
  return text;
}

std::string to_toml(const cost_settings& measured) {
  std::string text
    = "# What batches cost, as `perigee calibrate` measured it.\n[cost_model]\n";
  write_settings(text, measured);
  return text;
}

std::string to_toml(const hardware_settings& measured, const std::string& name) {
  auto text = "# What batches cost there, fitted by `perigee calibrate`.\n[hardware."
              + as_toml(name) + "]\n";
  write_settings(text, measured);
  return text;
}

std::string resolved(const topology& all) {
  std::string text;
  for_each_plain_section(all, [&](const std::string& name, const auto& section) {
    write_all(text, '[' + name + ']', section);
  });
  if (all.model_shape)
    write_all(text, "[model.shape]", *all.model_shape);
  if (all.cost_model)
    write_all(text, "[cost_model]", *all.cost_model);
  for (const auto& [name, costs] : all.hardware)
    write_all(text, "[hardware." + as_toml(name) + ']', costs);
  for (const auto& one : all.nodes) {
    write_all(text, "[[node]]", static_cast<const node_settings&>(one));
    if (one.cache_shard)
      text += "cache_shard = "
              + shard_table(*one.cache_shard,
                            [](const auto& section) { return full_table(section); })
              + '\n';
    write_each(text, "prefill_group", one.prefill_groups);
    write_each(text, "decode_instance", one.decode_instances);
    write_each(text, "coupled_instance", one.coupled_instances);
  }
  for (const auto& one : all.links)
    write_all(text, "[[link]]", one);
  for (const auto& one : all.events)
    write_all(text, "[[event]]", one);
  return text;
}

std::string topology_page() {
  std::string text = page_opening;
  const topology any;
  for_each_plain_section(
    any, [&]<class Section>(const std::string& name, const Section&) {
      text += "\n## [" + name + "]\n\n" + wrapped(note_of(name), "");
      write_rows<Section>(text);
    });
  text
    += "\n## [[node]]\n\n"
       + wrapped("A machine. Written once for each, or once with a `count`: then the "
                 "name is followed by a number, from 0 on. At least one node has a "
                 "`prefill_group`, and one a `decode_instance`; or at least one has a "
                 "`coupled_instance`, and none has any of those.",
                 "");
  write_rows<node_settings>(text);
  text += "\n### cache_shard\n\n"
          + wrapped("The node's part of the pool of cached KV: `cache_shard = { dram = "
                    "\"2GiB\" }`. A node where anything computes has one in any case.",
                    "");
  write_rows<cache_shard_settings>(text);
  text
    += "\n### cache_shard.ssd\n\n"
       + wrapped("Where blocks go that memory has no room for, and come back from: "
                 "`cache_shard = { dram = \"2GiB\", ssd = { size = \"64GiB\" } }`. "
                 "Absent: they are evicted. Only where engines are modelled, and the "
                 "hardware says how fast it is; real ones have none yet.",
                 "");
  write_rows<ssd_settings>(text);
  text += "\n### prefill_group\n\n"
          + wrapped(
            "What computes prompts: `prefill_group = [ { threads = 2 } ]`. A list, "
            "for a node may have several.",
            "");
  write_rows<prefill_group_settings>(text);
  text += "\n### decode_instance\n\n"
          + wrapped(
            "What generates: `decode_instance = [ { batch_max = 16 } ]`. A list.", "");
  write_rows<decode_instance_settings>(text);
  text
    += "\n### coupled_instance\n\n"
       + wrapped(
         "What computes prompts and generates on one engine, as vLLM does, for "
         "comparison, or where there is but one engine: `coupled_instance = [ { "
         "scheduler = \"chunked\" } ]`. A list of at most one: several are on several "
         "nodes, in one process or not. It fetches nothing from others and has no "
         "use for a `cache_shard`; its own arena is its cache. `policy.placement` is "
         "random, round_robin, load_balance or cache_aware then.",
         "");
  write_rows<coupled_instance_settings>(text);
  text += "\n## [model.shape]\n\n"
          + wrapped(
            "The KV of a model that need not be there, where all engines are modelled: "
            "a token's takes 2 * layers * kv_heads * head_dim numbers. With it, "
            "`perigee replay` needs no `model.path`; with both, only the file's "
            "tokenizer counts.",
            "");
  write_rows<shape_settings>(text);
  text += "\n## [cost_model]\n\n"
          + wrapped(
            "How long batches take here: what the conductor predicts with. "
            "`perigee calibrate` measures and writes it. Without it, a start "
            "measures quickly. Prefill of n tokens behind p cached ones takes "
            "prefill_fixed_ms + prefill_token_us * n + prefill_pair_ns * ((p + "
            "n)^2 - p^2); a decode step of b sequences that have k tokens of KV in "
            "all takes decode_fixed_ms + decode_sequence_us * b + "
            "decode_kv_token_ns * k.",
            "");
  write_rows<cost_settings>(text);
  text
    += "\n## [hardware.NAME]\n\n"
       + wrapped("The same for hardware that `engine = \"modelled\"` stands for, and "
                 "what else its node has.",
                 "");
  write_rows<hardware_settings>(text);
  text
    += "\n## [[link]]\n\n"
       + wrapped("A link that is unlike the others: a node's network card, or what "
                 "lies between two nodes. Of modelled nodes it is one of the fabric, "
                 "with a bandwidth and a latency; of nodes that are processes, what "
                 "moves KV between them, and how fast at most.",
                 "");
  write_rows<link_settings>(text);
  text += "\n## [[event]]\n\n"
          + wrapped(
            "Something that goes wrong while `perigee replay` runs, at a moment of "
            "the trace: `[[event]]` `at_s = 120` `what = \"kill\"` `node = \"d1\"` "
            "`for_s = 60`. A node that is killed is away until then; one actor of "
            "it (`actor = \"conductor\"`) is started again as any that dies, or "
            "after `for_s`. Links are those between nodes: one of `node`, its "
            "network card, either way, or what goes `from` one `to` another. Only "
            "replays heed events; `perigee serve` refuses them.",
            "");
  write_rows<event_settings>(text);
  return text;
}

} // namespace perigee::cluster
