/// \file
/// prompt_join: a prompt as it arrives, in parts.
#pragma once

#include "actors/interfaces.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace perigee::prefill {

/// Collects the parts of one prompt. Pure.
class prompt_join {
public:
  /// Whether `part` is from who sent those before it.
  bool is_of(const Msg<schema::Prompt>& part) const {
    return !last_ || (*last_)->getHeader().getSender() == part->getHeader().getSender();
  }

  /// False if `part` does not follow upon those before it, or makes it too long: then
  /// the prompt is worth nothing any more.
  [[nodiscard]] bool add(const Msg<schema::Prompt>& part) {
    auto tokens = part->getTokens();
    if (is_whole() || part->getFirstToken() != tokens_.size()
        || tokens_.size() + tokens.size() > prompt_tokens_max)
      return false;
    auto at = tokens_.size();
    tokens_.resize(at + tokens.size());
    for (unsigned i = 0; i < tokens.size(); ++i)
      tokens_[at + i] = tokens[i];
    last_ = part;
    return true;
  }

  bool is_whole() const {
    return last_ && (*last_)->getLast();
  }

  bool has_begun() const {
    return last_.has_value();
  }

  /// The latest part. There is one.
  const Msg<schema::Prompt>& last() const {
    return *last_;
  }

  const std::vector<std::uint32_t>& tokens() const {
    return tokens_;
  }

  /// They are not kept any more.
  std::vector<std::uint32_t> take() {
    return std::exchange(tokens_, {});
  }

private:
  std::vector<std::uint32_t> tokens_;
  std::optional<Msg<schema::Prompt>> last_;
};

} // namespace perigee::prefill
