/// \file
/// tag_under: who has a seat now. For an actor that must know later whom it has asked; to
/// speak to somebody, or to believe one, a desk is enough.
#pragma once

#include "actors/runtime/roster.hpp"

#include <optional>

namespace perigee::rt {

/// Nothing if nobody sits there.
template <class Handle>
std::optional<actor_tag> tag_under(const roster& all, const name<Handle>& whom) {
  auto found = all.find(whom);
  return found ? std::optional{found->tag} : std::nullopt;
}

} // namespace perigee::rt
