@0xde4c90ed78c84064;
# What one says to a node's transfer actor: move KV between segments.
#
# A movement is named by its asker and a ticket of the asker's. It is answered once, when no
# more memory will be touched on its account, whatever came of it.

using Cxx = import "/capnp/c++.capnp";
using Limits = import "limits.capnp";
using import "header.capnp".ActorName;
using import "header.capnp".Header;
using import "block.capnp".Asker;
$Cxx.namespace("perigee::schema");

struct Movement {
  from @0 :UInt64;
  to @1 :UInt64;
  # Segments, of equal geometry.

  layerFirst @2 :UInt32 $Limits.maxValue(4096);
  layers @3 :UInt32 $Limits.maxValue(4096);
  # 0: all from layerFirst on.

  sources @4 :List(UInt32) $Limits.maxItems(Limits.promptBlocksMax);
  targets @5 :List(UInt32) $Limits.maxItems(Limits.promptBlocksMax);
  # As many: block sources[i] of `from` becomes block targets[i] of `to`.

  awaitGate @6 :UInt64;
  # Of the node. A layer is moved when it has passed. 0: none.

  openGate @7 :UInt64;
  # Is passed by each layer as it has been moved. 0: none.

  priority @8 :Priority;
  remainingNs @9 :UInt64;
}

enum Priority {
  firstToken @0;   # Somebody waits for it.
  nextToken @1;
  background @2;
}

enum MoveFault {
  none @0;
  gone @1;        # A segment is not there (any more).
  outOfRange @2;
  timedOut @3;
  aborted @4;
  starved @5;     # The layers that were waited for will not come.
  busy @6;        # Too many movements are open.
  broken @7;      # The transport failed.
}

struct Fetch {
  # Into this node. Answered by one Moved.
  header @0 :Header;
  asker @1 :Asker;
  ticket @2 :UInt64;
  what @3 :Movement;
}

struct Push {
  # Out of this node. Answered by one Moved.
  header @0 :Header;
  asker @1 :Asker;
  ticket @2 :UInt64;
  what @3 :Movement;

  again @4 :Bool;
  # A transfer actor that was asked the same has ended, and what it had sent may still be
  # on its way into another node's memory.

  toNode @5 :UInt32 $Limits.maxValue(65535);
  # That node, if it is asked `again`.
}

struct Moved {
  header @0 :Header;
  ticket @1 :UInt64;
  fault @2 :MoveFault;
  bytes @3 :UInt64;
  durationNs @4 :UInt64;
}

struct Abort {
  # The asker of a movement: answered by that movement's Moved.
  header @0 :Header;
  asker @1 :Asker;
  ticket @2 :UInt64;
}

struct Quiesce {
  # A shard or decode instance to the transfer actor of a writer's node: answered by one Quiesced, once no
  # movement of `writer`, whose tag that was, will touch any memory again. Or to that of its own node, if
  # nobody is there: then once nothing of that node reaches memory here.
  header @0 :Header;
  asker @1 :Asker;
  ticket @2 :UInt64;
  writer @3 :UInt64;
  node @4 :UInt32 $Limits.maxValue(65535);
  # The writer's.
}

struct Quiesced {
  header @0 :Header;
  ticket @1 :UInt64;
}

struct Done {
  # A transport's thread, or a timer, to the transfer actor.
  header @0 :Header;
  number @1 :UInt64;
  fault @2 :MoveFault;
  bytes @3 :UInt64;
}

struct Flow {
  # Transfer actor to the fabric of a modelled cluster: these bytes set off now. Answered by
  # one Flowed once they would have arrived, unless StopFlow or the end of either comes first.
  header @0 :Header;
  mover @1 :ActorName;
  # Who says so, and is answered.

  number @2 :UInt64;
  # Of the mover's choice; no other flow of its has it.

  fromNode @3 :UInt32;
  toNode @4 :UInt32;
  bytes @5 :UInt64;

  parts @6 :UInt32 $Limits.maxValue(4096);
  # Of how many equal parts, such as layers, Flowed is to tell when they arrived.
}

struct Flowed {
  header @0 :Header;
  number @1 :UInt64;
  busy @2 :Bool;
  # Nothing set off: too much is under way.

  partAgesNs @3 :List(UInt64) $Limits.maxItems(4096);
  # How long ago each of the parts arrived: the last one now.
}

struct StopFlow {
  # The mover of a Flow: it ends here, and is not answered.
  header @0 :Header;
  mover @1 :ActorName;
  number @2 :UInt64;
}
