@0xbe29a7f41879ec93;
# What transfer actors of two nodes say to each other before KV can go between them, past all
# messages: which transport, how to reach each other, which memory there is.

using Cxx = import "/capnp/c++.capnp";
using Limits = import "limits.capnp";
using import "header.capnp".ActorName;
using import "header.capnp".Header;
$Cxx.namespace("perigee::schema");

struct Way {
  # One transport that a node has.
  transport @0 :Text $Limits.maxItems(16);
  endpoint @1 :Data $Limits.maxItems(1024);
  # Of use to that transport alone.

  host @2 :Data $Limits.maxItems(32);
  # Where it works between processes of one host only: which.
}

struct Dial {
  # Of two transfer actors, that of the later node in the topology to the other: answered by
  # one Dialed.
  header @0 :Header;
  mover @1 :ActorName;
  number @2 :UInt64;
  # Of this try. A later one puts an end to what an earlier one led to.

  ways @3 :List(Way) $Limits.maxItems(8);
  # That have not failed before between these two.
}

struct Dialed {
  header @0 :Header;
  mover @1 :ActorName;
  number @2 :UInt64;
  union {
    refused @3 :Text $Limits.maxItems(256);
    connect :group {
      transport @4 :Text $Limits.maxItems(16);
      endpoint @5 :Data $Limits.maxItems(1024);
      ticket @6 :Data $Limits.maxItems(32) $Limits.secret;
    }
  }
}

struct Shown {
  # Either to the other, once they are connected, and whenever there is more.
  header @0 :Header;
  mover @1 :ActorName;
  number @2 :UInt64;
  # Of the Dial that led to the connection.

  segments @3 :List(Segment) $Limits.maxItems(1024);

  struct Segment {
    id @0 :UInt64;
    layerBytes @1 :UInt64;
    layers @2 :UInt32 $Limits.maxValue(4096);
    blocks @3 :UInt32;
    descriptor @4 :Data $Limits.maxItems(1024);
    # The transport's own.
  }
}

struct LineChanged {
  # A transport's thread to its transfer actor.
  header @0 :Header;
  line @1 :UInt64;
  state @2 :State;
  why @3 :Text $Limits.maxItems(64);

  enum State {
    up @0;
    lost @1;
    forgotten @2;
  }
}
