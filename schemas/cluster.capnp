@0xee07c61091cce610;
# Who is there, and what actors tell themselves.

using Cxx = import "/capnp/c++.capnp";
using Limits = import "limits.capnp";
using import "header.capnp".ActorName;
using import "header.capnp".Header;
using import "block.capnp".Role;
$Cxx.namespace("perigee::schema");

struct Member {
  # The cluster to everybody: an actor has its seat now, or has lost it. Down always comes
  # before the up of a successor. What a lost one held or promised is void.
  header @0 :Header;
  role @1 :Role;
  who @2 :ActorName;
  life @3 :UInt64;
  incarnation @4 :UInt32;
  tag @5 :UInt64;
  up @6 :Bool;
}

struct Drain {
  # The cluster to the gateways: take no more requests.
  header @0 :Header;
}

struct Due {
  # An actor to itself: the earliest of its deadlines is here.
  header @0 :Header;
  epoch @1 :UInt64;
}

struct Tick {
  # An actor to itself: time for what it does now and then.
  header @0 :Header;
  epoch @1 :UInt64;
}

struct Drained {
  # Gateway to the cluster: after a Drain, nothing is open any more.
  header @0 :Header;
  who @1 :ActorName;
}

struct Describe {
  # Anyone to the cluster. Asked: answered by a Description.
  header @0 :Header;
}

struct Description {
  header @0 :Header;
  ready @1 :Bool;
  # A request that comes now can be served.

  up @2 :UInt32;
  down @3 :UInt32;
  # Actors that have their seat, and that should but have not.

  respawned @4 :UInt64;
  # Actors that died and were replaced, so far.
}
