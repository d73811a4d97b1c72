@0xe0df8bd950e5880d;
# What one says to a shard of the KVCache pool, and hears of it.
#
# To read: Pin, then Fetch what the lease names, then Unpin. To write: Reserve, then Push into
# what was granted, then Seal. The shard tells the conductor of what it stores and evicts,
# numbered without a gap: who sees a gap asks for a Snapshot. The shard has the last word.
# A coupled instance, which keeps prefixes in its own arena, tells of them as a shard does.

using Cxx = import "/capnp/c++.capnp";
using Limits = import "limits.capnp";
using import "header.capnp".ActorName;
using import "header.capnp".Header;
using import "block.capnp".Asker;
using import "block.capnp".BlockChain;
using import "block.capnp".BlockKey;
$Cxx.namespace("perigee::schema");

enum Tier {
  dram @0;
  ssd @1;
  vram @2;
}

struct Pin {
  # Prefill group to shard. Answered by one Pinned.
  header @0 :Header;
  asker @1 :Asker;
  ticket @2 :UInt64;
  chain @3 :BlockChain;
  # Wanted: a lease on as long a run from its front as is here.
  remainingNs @4 :UInt64;
}

struct Pinned {
  header @0 :Header;
  ticket @1 :UInt64;
  union {
    gone @2 :Void;
    # Not even the first block is here any more.
    busy @3 :Void;
    # No more can be pinned now.
    lease @4 :Lease;
  }
}

struct Lease {
  id @0 :UInt64;
  # Unique under the shard's name.

  life @1 :UInt64;
  # Of the shard's process.

  segment @2 :UInt64;
  blocks @3 :List(UInt32) $Limits.maxItems(Limits.promptBlocksMax);
  # Of that segment: the chain's first ones, in order. Never empty.

  expiresInNs @4 :UInt64;
  # The reader counts from when it asked, the holder from when it granted. So the reader
  # stops first, however long the messages took.

  tier @5 :Tier;
}

struct Unpin {
  # The reader needs a lease no more.
  header @0 :Header;
  lease @1 :UInt64;
}

struct Reserve {
  # Prefill group or decode instance to its node's shard. Answered by one Reserved.
  header @0 :Header;
  asker @1 :Asker;
  ticket @2 :UInt64;

  parent @3 :BlockKey;
  depth @4 :UInt32 $Limits.maxValue(Limits.promptBlocksMax);
  # Of the first of `keys`: blocks before it in its chain, and the key of the last of them.

  keys @5 :List(BlockKey) $Limits.maxItems(Limits.promptBlocksMax);
  # A piece of one chain.

  privateBlocks @6 :UInt32 $Limits.maxValue(Limits.promptBlocksMax);
  # Room for a parked sequence, in place of keys: never indexed, kept until Release.

  remainingNs @7 :UInt64;
}

struct Reserved {
  header @0 :Header;
  ticket @1 :UInt64;
  union {
    busy @2 :Void;
    # No room, or too many writers: go without.
    granted @3 :Grant;
  }
}

struct Grant {
  id @0 :UInt64;
  # Unique under the shard's name.

  life @1 :UInt64;
  segment @2 :UInt64;
  items @3 :List(Item) $Limits.maxItems(Limits.promptBlocksMax);
  # To be written. Keys that are here already, or that there is no room for, are left out.

  expiresInNs @4 :UInt64;
  # As of a lease: the writer must have sealed by then.

  struct Item {
    index @0 :UInt32;   # In `keys`, or of the private blocks.
    block @1 :UInt32;   # In `segment`.
  }
}

struct Seal {
  # The writer of a grant: all its items are written; or, if not ok, none will be, and
  # nobody writes there any more.
  header @0 :Header;
  grant @1 :UInt64;
  ok @2 :Bool;
}

struct Release {
  # Private blocks are needed no more.
  header @0 :Header;
  grant @1 :UInt64;
}

struct Stored {
  # Shard to conductor: these can be read now.
  header @0 :Header;
  shard @1 :ActorName;
  number @2 :UInt64;
  # Counts Stored and Evicted of a shard from 1, in one row, without a gap.
  keys @3 :List(BlockKey) $Limits.maxItems(Limits.promptBlocksMax);
  tier @4 :Tier;
}

struct Evicted {
  # Shard to conductor: these are no longer here.
  header @0 :Header;
  shard @1 :ActorName;
  number @2 :UInt64;
  keys @3 :List(BlockKey) $Limits.maxItems(Limits.promptBlocksMax);
}

struct Withhold {
  # The cluster to a shard: so many of its blocks are for nobody from now on. It takes free
  # ones, evicts for more, and takes the rest as they come free; beyond that it gives back.
  header @0 :Header;
  blocks @1 :UInt32;
  # As many as it has, if that is less.
}

struct Recount {
  # Conductor to shard: tell me all you hold. Answered by a row of Snapshots.
  header @0 :Header;
}

struct Snapshot {
  # Shard to conductor.
  header @0 :Header;
  shard @1 :ActorName;
  number @2 :UInt64;
  # Of the last Stored or Evicted that it contains.
  part @3 :UInt32;
  # From 0.
  last @4 :Bool;
  keys @5 :List(BlockKey) $Limits.maxItems(Limits.promptBlocksMax);
  tier @6 :Tier;
}
