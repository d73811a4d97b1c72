@0x956ee7dee73242c6;
# How busy the instances are: their reports to the conductor, and its book, which the
# rejector has a copy of. All go out on change, at most every 100 ms, never while idle.

using Cxx = import "/capnp/c++.capnp";
using Limits = import "limits.capnp";
using import "header.capnp".ActorName;
using import "header.capnp".Header;
$Cxx.namespace("perigee::schema");

struct PrefillLoad {
  # Prefill group or coupled instance to conductor.
  header @0 :Header;
  who @1 :ActorName;
  waiting @2 :UInt32;
  # Requests of which nothing is computed yet.
  running @3 :UInt32;
  queuedTokens @4 :UInt64;
  # Still to be computed, of all of them.
  ended @5 :List(UInt64) $Limits.maxItems(4096);
  # Requests handed off, or ended here otherwise, since the last report.
  blocksFree @6 :UInt32;
}

struct DecodeLoad {
  # Decode instance or coupled instance to conductor.
  header @0 :Header;
  who @1 :ActorName;
  sequences @2 :UInt32;
  # That decode now.
  waiting @3 :UInt32;
  # Accepted, and not in the batch yet; parked ones too.
  kvTokens @4 :UInt64;
  # Of all of them.
  blocksFree @5 :UInt32;
  stepNs @6 :UInt64;
  # A step's duration of late. 0: none yet. For who reads journals: no actor decides by it.
  began @7 :List(UInt64) $Limits.maxItems(4096);
  # Requests accepted since the last report.
  ended @8 :List(Ended) $Limits.maxItems(4096);
  # Requests that are here no more since then.

  struct Ended {
    request @0 :UInt64;
    decodedNs @1 :UInt64;
    # From acceptance to end. 0: it was never accepted.
  }
}

struct Book {
  # Conductor to rejector.
  header @0 :Header;
  prefills @1 :List(PrefillEntry) $Limits.maxItems(65536);
  decodes @2 :List(DecodeEntry) $Limits.maxItems(65536);

  decodeTimeNs @3 :UInt64;
  # How long a request decodes, on average of late.

  struct PrefillEntry {
    who @0 :ActorName;
    up @1 :Bool;
    queuedNs @2 :UInt64;
    # Predicted work ahead of a request that comes now.
    waiting @3 :UInt32;
  }

  struct DecodeEntry {
    who @0 :ActorName;
    up @1 :Bool;
    tbtNs @2 :UInt64;
    # Predicted for now.
    sequences @3 :UInt32;
    kvTokens @4 :UInt64;
    coming @5 :List(Coming) $Limits.maxItems(4096);
    # Requests on their way, soonest first.
    elapsed @6 :List(UInt64) $Limits.maxItems(4096);
    # Nanoseconds that each of `sequences` has decoded, longest first.
  }

  struct Coming {
    inNs @0 :UInt64;
    tokens @1 :UInt32;
  }
}
