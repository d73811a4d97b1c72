#include "engine/tokenizer/special_tokens.hpp"

#include "schemas/assert.hpp"

#include <algorithm>

namespace perigee::engine {

namespace {

std::uint64_t key_of(std::uint32_t parent, char byte) {
  return std::uint64_t{parent} << 8 | static_cast<std::uint8_t>(byte);
}

} // namespace

void special_tokens::add(token_id token, std::string_view text, bool is_structure) {
  PERIGEE_ASSERT(!text.empty(), "an empty token would be everywhere");
  std::uint32_t at = 0;
  for (const char byte : text) {
    const auto [found, is_new]
      = children_.emplace(key_of(at, byte), static_cast<std::uint32_t>(nodes_.size()));
    if (is_new)
      nodes_.emplace_back();
    at = found->second;
  }
  PERIGEE_ASSERT(!nodes_[at].is_token, "no two tokens have one text");
  nodes_[at] = {token, true, is_structure};
  begins_[static_cast<std::uint8_t>(text[0])] = true;
  sizes_.insert(text.size());
}

std::vector<fragment>
special_tokens::partition(std::string_view text,
                          std::span<const stretch> stretches) const {
  std::vector<taken> found = choose(text, find_candidates(text, stretches));
  std::ranges::sort(found, {}, &taken::begin);
  std::vector<fragment> fragments;
  std::size_t at = 0;
  for (const taken& one : found) {
    if (at < one.begin)
      fragments.push_back({at, one.begin - at, std::nullopt});
    fragments.push_back({one.begin, one.size, one.token});
    at = one.begin + one.size;
  }
  if (at < text.size())
    fragments.push_back({at, text.size() - at, std::nullopt});
  return fragments;
}

std::optional<std::uint32_t> special_tokens::child(std::uint32_t parent,
                                                   char byte) const {
  const auto found = children_.find(key_of(parent, byte));
  return found == children_.end() ? std::nullopt : std::optional{found->second};
}

std::uint32_t special_tokens::longest_at(std::string_view text,
                                         std::size_t structure_max) const {
  std::uint32_t at = 0;
  std::uint32_t longest = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto next = child(at, text[i]);
    if (!next)
      break;
    at = *next;
    if (nodes_[at].is_token && (!nodes_[at].is_structure || i < structure_max))
      longest = static_cast<std::uint32_t>(i + 1);
  }
  return longest;
}

std::optional<token_id> special_tokens::exactly(std::string_view text,
                                                std::size_t structure_max) const {
  std::uint32_t at = 0;
  for (const char byte : text) {
    const auto next = child(at, byte);
    if (!next)
      return std::nullopt;
    at = *next;
  }
  const node& end = nodes_[at];
  if (!end.is_token || (end.is_structure && text.size() > structure_max))
    return std::nullopt;
  return end.token;
}

std::vector<special_tokens::candidate>
special_tokens::find_candidates(std::string_view text,
                                std::span<const stretch> stretches) const {
  std::vector<candidate> candidates;
  const stretch* within = stretches.data();
  const stretch* structure = within; // the last of those that mean it from here on
  for (std::size_t at = 0; at < text.size(); ++at) {
    while (at >= within->end)
      ++within;
    if (!begins_[static_cast<std::uint8_t>(text[at])])
      continue;
    std::size_t structure_max = 0;
    if (within->means_structure) {
      structure = std::max(structure, within);
      while (structure->end < text.size() && (structure + 1)->means_structure)
        ++structure;
      structure_max = structure->end - at;
    }
    if (const std::uint32_t longest = longest_at(text.substr(at), structure_max))
      candidates.push_back({static_cast<std::uint32_t>(at), longest,
                            static_cast<std::uint32_t>(structure_max)});
  }
  return candidates;
}

std::vector<special_tokens::taken>
special_tokens::choose(std::string_view text, std::vector<candidate> candidates) const {
  std::vector<taken> chosen;
  std::vector<bool> is_taken(candidates.empty() ? 0 : text.size());
  for (const std::size_t size : sizes_) {
    std::erase_if(candidates, [&](const candidate& one) { return is_taken[one.at]; });
    for (const candidate& one : candidates) {
      // Whoever was taken is longer, or as long: it covers an end of what it overlaps.
      if (one.longest < size || is_taken[one.at] || is_taken[one.at + size - 1])
        continue;
      const auto token = exactly(text.substr(one.at, size), one.structure_max);
      if (!token)
        continue;
      std::fill_n(is_taken.begin() + one.at, size, true);
      chosen.push_back({one.at, size, *token});
    }
  }
  return chosen;
}

} // namespace perigee::engine
