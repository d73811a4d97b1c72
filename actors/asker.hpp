/// \file
/// Answers to askers of several roles.
#pragma once

#include "actors/interfaces.hpp"
#include "schemas/convert.hpp"

namespace perigee {

/// `ask.initAsker()` names an actor of a role that may ask.
template <class Handle>
void set_asker(schema::Asker::Builder to, const rt::name<Handle>& who) {
  constexpr bool prefills = std::is_same_v<Handle, prefill_actor>;
  constexpr bool decodes = std::is_same_v<Handle, decode_actor>;
  constexpr bool does_both = std::is_same_v<Handle, coupled_actor>;
  constexpr bool keeps = std::is_same_v<Handle, shard_actor>;
  static_assert(prefills || decodes || does_both || keeps, "nobody else asks");
  to.setRole(prefills    ? schema::Role::PREFILL
             : decodes   ? schema::Role::DECODE
             : does_both ? schema::Role::COUPLED
                         : schema::Role::SHARD);
  set_name(to.initWho(), who);
}

/// Calls `use(name)` with the name of who asks for movements of KV or for blocks, whose
/// type is that of its role. False, and nothing is called, if no actor of that role
/// does.
template <class Use>
bool with_asker(schema::Asker::Reader asker, Use use) {
  switch (asker.getRole()) {
    case schema::Role::PREFILL: use(to_name<prefill_name>(asker.getWho())); return true;
    case schema::Role::DECODE: use(to_name<decode_name>(asker.getWho())); return true;
    case schema::Role::SHARD: use(to_name<shard_name>(asker.getWho())); return true;
    default: return false;
  }
}

/// The same of who may own an engine.
template <class Use>
bool with_engine_owner(schema::Asker::Reader owner, Use use) {
  switch (owner.getRole()) {
    case schema::Role::PREFILL: use(to_name<prefill_name>(owner.getWho())); return true;
    case schema::Role::DECODE: use(to_name<decode_name>(owner.getWho())); return true;
    case schema::Role::COUPLED: use(to_name<coupled_name>(owner.getWho())); return true;
    default: return false;
  }
}

} // namespace perigee
