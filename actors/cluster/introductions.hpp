/// \file
/// introductions: what clusters' actors of several nodes say to each other, and beside
/// which messages handles may travel.
///
/// Apart from the other interfaces, because these hold them: whoever includes this waits
/// for the compiler.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/scribe.hpp"
#include "schemas/node.capnp.h"

namespace perigee {

// One interface for each step of getting to know each other: whom one may introduce
// actors to,
using introducing_actor = rt::actor_of<
  void(Msg<schema::Join>, gateway_actor), void(Msg<schema::Join>, rejector_actor),
  void(Msg<schema::Join>, conductor_actor), void(Msg<schema::Join>, prefill_actor),
  void(Msg<schema::Join>, decode_actor), void(Msg<schema::Join>, coupled_actor),
  void(Msg<schema::Join>, shard_actor), void(Msg<schema::Join>, transfer_actor),
  void(Msg<schema::Leave>), void(Msg<schema::Parting>), void(Msg<schema::Lost>),
  void(Msg<schema::Apart>)>;

// who is told where that is,
using greeting_actor = rt::actor_of<void(Msg<schema::Met>, introducing_actor)>;

// and who receives strangers.
using receiving_actor
  = rt::actor_of<Msg<schema::Welcome>(Msg<schema::Hello>),
                 void(Msg<schema::Prove>, greeting_actor, introducing_actor)>;

/// A cluster's actor with all its faces.
using node_actor = rt::actor_of<
  Msg<schema::Welcome>(Msg<schema::Hello>),
  void(Msg<schema::Prove>, greeting_actor, introducing_actor),
  void(Msg<schema::Met>, introducing_actor), void(Msg<schema::Join>, gateway_actor),
  void(Msg<schema::Join>, rejector_actor), void(Msg<schema::Join>, conductor_actor),
  void(Msg<schema::Join>, prefill_actor), void(Msg<schema::Join>, decode_actor),
  void(Msg<schema::Join>, coupled_actor), void(Msg<schema::Join>, shard_actor),
  void(Msg<schema::Join>, transfer_actor), void(Msg<schema::Leave>),
  void(Msg<schema::Parting>), void(Msg<schema::Lost>), void(Msg<schema::Apart>),
  void(Msg<schema::Found>, receiving_actor), void(Msg<schema::Fenced>),
  void(Msg<schema::Reached>), void(Msg<schema::Drain>), void(Msg<schema::Drained>),
  void(Msg<schema::Tick>), Msg<schema::Description>(Msg<schema::Describe>)>;

/// The same actor, as others know it. `whom` was started by cluster::start().
inline node_actor face_of(const cluster_actor& whom) {
  return rt::restore_type<node_actor>(rt::erase_type(whom));
}

namespace rt {

template <>
inline constexpr bool is_introduction<schema::Prove> = true;
template <>
inline constexpr bool is_introduction<schema::Met> = true;
template <>
inline constexpr bool is_introduction<schema::Join> = true;
template <>
inline constexpr bool is_introduction<schema::Found> = true;

} // namespace rt
} // namespace perigee

CAF_BEGIN_TYPE_ID_BLOCK(perigee_nodes, caf::id_block::perigee::end)
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::Msg<perigee::schema::Hello>))
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::Msg<perigee::schema::Welcome>))
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::Msg<perigee::schema::Prove>))
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::Msg<perigee::schema::Met>))
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::Msg<perigee::schema::Join>))
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::Msg<perigee::schema::Leave>))
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::Msg<perigee::schema::Found>))
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::Msg<perigee::schema::Parting>))
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::Msg<perigee::schema::Lost>))
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::introducing_actor))
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::greeting_actor))
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::receiving_actor))
  CAF_ADD_TYPE_ID(perigee_nodes, (perigee::node_actor))
CAF_END_TYPE_ID_BLOCK(perigee_nodes)
