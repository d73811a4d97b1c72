@0xb0318f3c81099c87;
# Nouns of the KVCache that several protocols share: keys, chains, and who asks.

using Cxx = import "/capnp/c++.capnp";
using Limits = import "limits.capnp";
using import "header.capnp".ActorName;
$Cxx.namespace("perigee::schema");

struct BlockKey {
  high @0 :UInt64;
  low @1 :UInt64;
  # Hash of every token up to the end of the block: equal keys mean equal prefixes.
}

struct BlockChain {
  keys @0 :List(BlockKey) $Limits.maxItems(Limits.promptBlocksMax);
  # Oldest first: the full blocks of a prompt. Its last, partial block has no key.

  blockTokens @1 :UInt16 = 16 $Limits.maxValue(4096);
  # Tokens in every block. Chains with different values never match.

  root @2 :BlockKey;
  # What the first block's key was made from, and stands where a key does if there is none:
  # a hash of model, KV layout and tenant.
}

enum Role {
  gateway @0;
  rejector @1;
  conductor @2;
  prefill @3;
  decode @4;
  shard @5;
  transfer @6;
  engine @7;
  cluster @8;
  coupled @9;
  fabric @10;
}

struct Asker {
  # Whom to answer, where actors of several roles may ask.
  role @0 :Role;
  who @1 :ActorName;
}

struct Stages {
  # What a request's time went into so far, each measured by the clock of who did it, from
  # when it took the message that made it begin. What the sum lacks to the client's own
  # count is transit.

  parseNs @0 :UInt64;
  tokenizeNs @1 :UInt64;
  admissionNs @2 :UInt64;
  placementNs @3 :UInt64;

  queueNs @4 :UInt64;
  # In the prefill group, until its blocks are fetched or, if none are, it is computed.

  fetchNs @5 :UInt64;
  # Until the first chunk begins: what comes while that is computed is part of prefillNs.

  prefillNs @6 :UInt64;

  handoffNs @7 :UInt64;
  # From the last chunk's end to the first token's departure to the gateway.

  transferNs @8 :UInt64;
  # From then until all KV is with the decode instance: what of it was not hidden.

  decodeQueueNs @9 :UInt64;
  decodeNs @10 :UInt64;
}
