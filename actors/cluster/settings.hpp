/// \file
/// setting: one key of a topology file, declared once: what it is called, where its
/// value goes, what it may be, and a sentence. Its type and its default are those of
/// the member that it names.
#pragma once

#include "actors/cluster/topology.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace perigee::cluster {

/// Bounds of a number; of a size in bytes, of a time in milliseconds. Both included.
struct between {
  double least;
  double most;
};

struct one_of {
  std::vector<std::string> names;
};

/// A text that `is` of some form.
struct of_form {
  const char* what; ///< As in "a host and a port, such as ...".
  bool (*is)(const std::string& text);
};

using bounds = std::variant<std::monostate, between, one_of, of_form>;

/// A value as it was written: what TOML has for it, or the text of an override.
struct written {
  std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>> value;
  bool is_bare = false; ///< A text that stands for any type: from outside a file.
};

template <class Section>
struct setting {
  std::string key;
  std::variant<std::string Section::*, count Section::*, double Section::*,
               bool Section::*, byte_size Section::*, milliseconds Section::*,
               std::vector<std::string> Section::*>
    where;
  bounds allowed;
  std::string sentence;
};

/// The settings of a section, in the order of the handbook.
template <class Section>
const std::vector<setting<Section>>& settings_of();

/// Takes `from` over into `into` if it is of its type and within `allowed`; else false.
bool assign(const written& from, const bounds& allowed, std::string& into);
bool assign(const written& from, const bounds& allowed, count& into);
bool assign(const written& from, const bounds& allowed, double& into);
bool assign(const written& from, const bounds& allowed, bool& into);
bool assign(const written& from, const bounds& allowed, byte_size& into);
bool assign(const written& from, const bounds& allowed, milliseconds& into);
bool assign(const written& from, const bounds& allowed, std::vector<std::string>& into);

/// What a value of that type must be, as in "a whole number from 1 to 64".
std::string expected(const bounds& allowed, const std::string&);
std::string expected(const bounds& allowed, const count&);
std::string expected(const bounds& allowed, const double&);
std::string expected(const bounds& allowed, const bool&);
std::string expected(const bounds& allowed, const byte_size&);
std::string expected(const bounds& allowed, const milliseconds&);
std::string expected(const bounds& allowed, const std::vector<std::string>&);

/// As TOML has it.
std::string as_toml(const std::string& value);
std::string as_toml(const count& value);
std::string as_toml(const double& value);
std::string as_toml(const bool& value);
std::string as_toml(const byte_size& value);
std::string as_toml(const milliseconds& value);
std::string as_toml(const std::vector<std::string>& value);

/// `written` as it may stand in an error; shortened.
std::string shown(const written& value);

template <class Section>
bool assign(const setting<Section>& what, const written& from, Section& into) {
  return std::visit(
    [&](auto member) { return assign(from, what.allowed, into.*member); }, what.where);
}

template <class Section>
std::string expected(const setting<Section>& what) {
  static const Section defaults{};
  return std::visit(
    [&](auto member) { return expected(what.allowed, defaults.*member); }, what.where);
}

template <class Section>
std::string as_toml(const setting<Section>& what, const Section& from) {
  return std::visit([&](auto member) { return as_toml(from.*member); }, what.where);
}

/// Shows each section that stands once, with its name: `see("policy",
/// topology.policy)`.
template <class Topology, class See>
void for_each_plain_section(Topology& all, See see) {
  see("cluster", all.cluster);
  see("model", all.model);
  see("slo", all.slo);
  see("policy", all.policy);
  see("limits", all.limits);
  see("http", all.http);
  see("network", all.network);
  see("fabric", all.fabric);
}

} // namespace perigee::cluster
