@0xaadd0a485856bbfe;
# How nodes meet: what the clusters' actors of two processes say to each other.
#
# Hello, Welcome and Prove never change: nodes of any two versions must be able to say why they
# don't fit.

using Cxx = import "/capnp/c++.capnp";
using Limits = import "limits.capnp";
using import "header.capnp".ActorName;
using import "header.capnp".Header;
using import "block.capnp".Role;
$Cxx.namespace("perigee::schema");

struct NodeCard {
  # Who a process says it is, and what must be the same in all of a cluster.

  cluster @0 :Text $Limits.maxItems(256);
  node @1 :Text $Limits.maxItems(256);
  index @2 :UInt32 $Limits.maxValue(65535);
  # Of the node in the topology.

  life @3 :UInt64;
  topology @4 :Data $Limits.maxItems(32);
  model @5 :Data $Limits.maxItems(32);
  schema @6 :Data $Limits.maxItems(32);
  # Hashes: of what the topology says, of the weights, of all messages' descriptions.

  build @7 :Text $Limits.maxItems(256);
  # For people. May differ.
}

struct Hello {
  # Who connects to who was connected to. Asked: answered by Welcome.
  header @0 :Header;
  who @1 :NodeCard;
  challenge @2 :Data $Limits.maxItems(32);
  # Drawn anew each time; to be signed.
}

struct Welcome {
  header @0 :Header;
  union {
    turnedAway @1 :Text $Limits.maxItems(1024);
    # Why.

    met :group {
      who @2 :NodeCard;
      challenge @3 :Data $Limits.maxItems(32);
      proof @4 :Data $Limits.maxItems(64);
      # Signs Hello's challenge, both nodes and both lives. Empty: the topology has no keys.
    }
  }
}

struct Prove {
  # Who connects, after Welcome: beside it, whom to tell of what is here. Answered by Met, to the
  # first of these; if the proof fails, by nothing, and the connection is useless.
  header @0 :Header;
  index @1 :UInt32 $Limits.maxValue(65535);
  life @2 :UInt64;
  proof @3 :Data $Limits.maxItems(64);
  # Signs Welcome's challenge, both nodes and both lives.
}

struct Met {
  # Who was connected to: beside it, whom to tell of what is there.
  header @0 :Header;
  index @1 :UInt32 $Limits.maxValue(65535);
  life @2 :UInt64;
}

struct Join {
  # A node to each that it has met: beside it, an actor of its own that has its seat now.
  header @0 :Header;
  role @1 :Role;
  who @2 :ActorName;
  life @3 :UInt64;
  incarnation @4 :UInt32;
  tag @5 :UInt64;
}

struct Leave {
  # The same: one that had its seat has lost it.
  header @0 :Header;
  role @1 :Role;
  who @2 :ActorName;
  life @3 :UInt64;
  incarnation @4 :UInt32;
}

struct Parting {
  # A node to each that it has met: it is to end. Nothing new is to be placed there; what is there
  # goes on.
  header @0 :Header;
  index @1 :UInt32 $Limits.maxValue(65535);
  life @2 :UInt64;
}

struct Lost {
  # A node to one that it had met: it takes that one for gone, for a reason that the other may not
  # know. They are to meet anew.
  header @0 :Header;
  index @1 :UInt32 $Limits.maxValue(65535);
  life @2 :UInt64;
}

struct Apart {
  # A node to those that it has met and that have a conductor; the cluster there to that
  # conductor: between two nodes nothing can be said, or nothing moved; or it can again.
  header @0 :Header;
  index @1 :UInt32 $Limits.maxValue(65535);
  # Who found that out,

  other @2 :UInt32 $Limits.maxValue(65535);
  # and with whom.

  apart @3 :Bool;
}

struct Reached {
  # A transfer actor to its own cluster, of another node that it is to move KV to and from.
  header @0 :Header;
  index @1 :UInt32 $Limits.maxValue(65535);
  how @2 :How;

  enum How {
    well @0;
    # A line is up.

    notAtAll @1;
    # No line could be made for a while.

    unheard @2;
    # Its transfer actor does not answer, though somebody here waits for that.
  }
}

struct Found {
  # The thread that connects, to its own cluster's actor: beside it, who receives there.
  header @0 :Header;
  index @1 :UInt32 $Limits.maxValue(65535);
}

struct Fenced {
  # A transfer actor to its own cluster: nothing of that node's life reaches memory here any
  # more.
  header @0 :Header;
  index @1 :UInt32 $Limits.maxValue(65535);
  life @2 :UInt64;
}

struct Fence {
  # The cluster to the transfer actor of its own node: that node is gone. Answered by Fenced.
  header @0 :Header;
  index @1 :UInt32 $Limits.maxValue(65535);
  life @2 :UInt64;
}
