/// \file
/// draft_table: prompts whose parts are still coming.
#pragma once

#include "schemas/vocabulary.hpp"

#include <capnp/list.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace perigee::gateway {

/// Puts parts together, in order. Pure.
class draft_table {
public:
  using tokens = std::vector<std::uint32_t>;

  enum class added : std::uint8_t { fits, gap, too_long };

  bool contains(std::uint64_t stream) const {
    return all_.contains(stream);
  }

  std::size_t size() const {
    return all_.size();
  }

  /// Of all drafts together.
  std::size_t tokens_held() const {
    return tokens_held_;
  }

  void open(std::uint64_t stream) {
    all_[stream];
  }

  /// `room`: how many tokens there may be more, of all prompts.
  added add(std::uint64_t stream, std::size_t first,
            capnp::List<std::uint32_t>::Reader part, std::size_t room) {
    auto& whole = all_.at(stream);
    if (first != whole.size())
      return added::gap;
    if (part.size() > room || whole.size() + part.size() > prompt_tokens_max)
      return added::too_long;
    whole.resize(first + part.size());
    for (unsigned i = 0; i < part.size(); ++i)
      whole[first + i] = part[i];
    tokens_held_ += part.size();
    return added::fits;
  }

  /// What there is of it, which leaves the table.
  tokens take(std::uint64_t stream) {
    auto whole = std::move(all_.extract(stream).mapped());
    tokens_held_ -= whole.size();
    return whole;
  }

private:
  std::map<std::uint64_t, tokens> all_;
  std::size_t tokens_held_ = 0;
};

} // namespace perigee::gateway
