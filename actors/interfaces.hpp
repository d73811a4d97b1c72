/// \file
/// Who may say what to whom: the interface of every role, on one page.
///
/// The messages are described in schemas/, the course of a request in actors/README.md.
/// Each role's folder holds its actor; who wants to talk to one needs this file alone.
#pragma once

#include "actors/runtime/caf_port.hpp"
#include "actors/runtime/msg.hpp"
#include "actors/runtime/name.hpp"
#include "schemas/block.capnp.h"
#include "schemas/cache.capnp.h"
#include "schemas/cluster.capnp.h"
#include "schemas/forward.capnp.h"
#include "schemas/line.capnp.h"
#include "schemas/load.capnp.h"
#include "schemas/movement.capnp.h"
#include "schemas/node.capnp.h"
#include "schemas/request.capnp.h"

namespace perigee {

/// Takes clients' requests in and gives the answers out.
using gateway_actor
  = rt::actor_of<void(Msg<schema::Submit>), void(Msg<schema::Withdraw>),
                 void(Msg<schema::Placed>), void(Msg<schema::PromptScores>),
                 void(Msg<schema::Tokens>), void(Msg<schema::Cancelled>),
                 void(Msg<schema::Member>), void(Msg<schema::Drain>),
                 void(Msg<schema::Due>)>;

/// Refuses early what could not be served in time.
using rejector_actor = rt::actor_of<void(Msg<schema::Arrive>),
                                    void(Msg<schema::Cancel>), void(Msg<schema::Book>),
                                    void(Msg<schema::Member>), void(Msg<schema::Due>)>;

/// Places every request.
using conductor_actor = rt::actor_of<
  void(Msg<schema::Place>), void(Msg<schema::Cancel>), void(Msg<schema::PrefillLoad>),
  void(Msg<schema::DecodeLoad>), void(Msg<schema::Stored>), void(Msg<schema::Evicted>),
  void(Msg<schema::Snapshot>), void(Msg<schema::Member>), void(Msg<schema::Apart>),
  void(Msg<schema::Due>), void(Msg<schema::Tick>)>;

/// Computes prompts.
using prefill_actor = rt::actor_of<
  void(Msg<schema::Prefill>), void(Msg<schema::Prompt>), void(Msg<schema::Cancel>),
  void(Msg<schema::Roomed>), void(Msg<schema::HandedOff>), void(Msg<schema::Pinned>),
  void(Msg<schema::Reserved>), void(Msg<schema::Moved>), void(Msg<schema::Forwarded>),
  void(Msg<schema::Member>), void(Msg<schema::Due>), void(Msg<schema::Tick>)>;

/// Decodes many sequences at once.
using decode_actor = rt::actor_of<
  void(Msg<schema::Expect>), void(Msg<schema::Room>), void(Msg<schema::Handoff>),
  void(Msg<schema::Landed>), void(Msg<schema::Cancel>), void(Msg<schema::Reserved>),
  void(Msg<schema::Moved>), void(Msg<schema::Quiesced>), void(Msg<schema::Forwarded>),
  void(Msg<schema::Member>), void(Msg<schema::Due>), void(Msg<schema::Tick>)>;

/// Does both, on one engine, as vLLM does.
using coupled_actor
  = rt::actor_of<void(Msg<schema::Prefill>), void(Msg<schema::Prompt>),
                 void(Msg<schema::Cancel>), void(Msg<schema::Forwarded>),
                 void(Msg<schema::Recount>), void(Msg<schema::Member>),
                 void(Msg<schema::Due>), void(Msg<schema::Tick>)>;

/// One node's part of the KVCache pool.
using shard_actor = rt::actor_of<
  void(Msg<schema::Pin>), void(Msg<schema::Unpin>), void(Msg<schema::Reserve>),
  void(Msg<schema::Seal>), void(Msg<schema::Release>), void(Msg<schema::Recount>),
  void(Msg<schema::Quiesced>), void(Msg<schema::Withhold>), void(Msg<schema::Member>),
  void(Msg<schema::Due>), void(Msg<schema::Tick>)>;

/// Moves KV between a node's segments and others'.
using transfer_actor = rt::actor_of<
  void(Msg<schema::Fetch>), void(Msg<schema::Push>), void(Msg<schema::Abort>),
  void(Msg<schema::Quiesce>), void(Msg<schema::Done>), void(Msg<schema::Flowed>),
  void(Msg<schema::Dial>), void(Msg<schema::Dialed>), void(Msg<schema::Shown>),
  void(Msg<schema::LineChanged>), void(Msg<schema::Fence>), void(Msg<schema::Member>),
  void(Msg<schema::Due>)>;

/// The network of a modelled cluster.
using fabric_actor = rt::actor_of<void(Msg<schema::Flow>), void(Msg<schema::StopFlow>),
                                  void(Msg<schema::Member>), void(Msg<schema::Due>)>;

/// Owns one engine.
using engine_actor = rt::actor_of<void(Msg<schema::Forward>),
                                  void(Msg<schema::Interrupt>), void(Msg<schema::Ran>)>;

/// Spawns, seats and watches over a process's actors: what its own say to it. What those
/// of other nodes say is in cluster/introductions.hpp.
using cluster_actor = rt::actor_of<void(Msg<schema::Drain>), void(Msg<schema::Drained>),
                                   void(Msg<schema::Fenced>),
                                   void(Msg<schema::Reached>), void(Msg<schema::Tick>),
                                   Msg<schema::Description>(Msg<schema::Describe>)>;

using gateway_name = rt::name<gateway_actor>;
using rejector_name = rt::name<rejector_actor>;
using conductor_name = rt::name<conductor_actor>;
using prefill_name = rt::name<prefill_actor>;
using decode_name = rt::name<decode_actor>;
using coupled_name = rt::name<coupled_actor>;
using shard_name = rt::name<shard_actor>;       // a node has one: its index is 0
using transfer_name = rt::name<transfer_actor>; // likewise
using fabric_name = rt::name<fabric_actor>;     // a cluster has one, or none
using engine_name = rt::name<engine_actor>;
using cluster_name = rt::name<cluster_actor>;

} // namespace perigee

CAF_BEGIN_TYPE_ID_BLOCK(perigee, caf::first_custom_type_id)
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Submit>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Withdraw>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Arrive>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Place>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Placed>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Expect>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Prefill>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Prompt>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::PromptScores>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Room>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Roomed>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Handoff>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::HandedOff>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Landed>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Tokens>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Cancel>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Cancelled>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Forward>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Forwarded>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Ran>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Interrupt>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Fetch>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Push>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Moved>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Abort>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Quiesce>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Quiesced>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Done>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Flow>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Flowed>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::StopFlow>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Pin>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Pinned>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Unpin>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Reserve>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Reserved>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Seal>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Release>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Stored>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Evicted>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Withhold>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Recount>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Snapshot>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::PrefillLoad>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::DecodeLoad>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Book>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Member>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Drain>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Drained>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Describe>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Description>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Due>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Tick>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Fence>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Fenced>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Dial>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Dialed>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Shown>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::LineChanged>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Apart>))
  CAF_ADD_TYPE_ID(perigee, (perigee::Msg<perigee::schema::Reached>))
  CAF_ADD_TYPE_ID(perigee, (perigee::gateway_actor))
  CAF_ADD_TYPE_ID(perigee, (perigee::rejector_actor))
  CAF_ADD_TYPE_ID(perigee, (perigee::conductor_actor))
  CAF_ADD_TYPE_ID(perigee, (perigee::prefill_actor))
  CAF_ADD_TYPE_ID(perigee, (perigee::decode_actor))
  CAF_ADD_TYPE_ID(perigee, (perigee::shard_actor))
  CAF_ADD_TYPE_ID(perigee, (perigee::transfer_actor))
  CAF_ADD_TYPE_ID(perigee, (perigee::fabric_actor))
  CAF_ADD_TYPE_ID(perigee, (perigee::engine_actor))
  CAF_ADD_TYPE_ID(perigee, (perigee::cluster_actor))
  CAF_ADD_TYPE_ID(perigee, (perigee::coupled_actor))
CAF_END_TYPE_ID_BLOCK(perigee)
