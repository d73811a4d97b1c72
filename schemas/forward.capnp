@0xe3987c4108ec1dfe;
# What the owner of an engine says to its host, and hears of it.
#
# The owner tells its host to run a batch: one step, or a run of them in which every sequence
# feeds what it drew. The host keeps a sequence's sampler and block table from the Forward
# that begins it to the one that ends it. One Forward is open at a time; a second waits for
# the first, a third is a bug of the owner's.

using Cxx = import "/capnp/c++.capnp";
using Limits = import "limits.capnp";
using import "header.capnp".Header;
using import "block.capnp".Asker;
using import "request.capnp".Drawn;
using import "request.capnp".Sampling;
$Cxx.namespace("perigee::schema");

struct Forward {
  # Owner to engine host. Answered by one Forwarded.
  header @0 :Header;
  owner @1 :Asker;
  ticket @2 :UInt64;

  stepsMax @3 :UInt32 = 1 $Limits.maxValue(4096);
  # The run ends after so many steps, or by Interrupt; also once a sequence that drew
  # takes no further part, for then another batch is better; and when what was drawn fills
  # a message. In steps after the first, every sequence that drew feeds what it drew.

  ends @4 :List(UInt64) $Limits.maxItems(4096);
  # Sequences to be forgotten, before anything else.

  begins @5 :List(Begin) $Limits.maxItems(4096);
  work @6 :List(Work) $Limits.maxItems(4096);
  # Empty: nothing is run, and the answer is at once.

  struct Begin {
    sequence @0 :UInt64;
    sampling @1 :Sampling;
    seen @2 :List(UInt32) $Limits.maxItems(Limits.vocabularyMax)
      $Limits.tokenIds;
    # As in Handoff.

    answered @3 :List(UInt32) $Limits.maxItems(Limits.promptTokensMax)
      $Limits.tokenIds;
    # Tokens drawn elsewhere so far, for the penalties and the shortest answer.
  }

  struct Work {
    sequence @0 :UInt64;
    firstPosition @1 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
    tokens @2 :List(UInt32) $Limits.maxItems(Limits.partTokensMax)
      $Limits.tokenIds;
    # Never empty.

    firstBlock @3 :UInt32 $Limits.maxValue(Limits.promptBlocksMax);
    blocks @4 :List(UInt32) $Limits.maxItems(Limits.promptBlocksMax);
    # Replace the sequence's block table from entry `firstBlock` on. Afterwards it must
    # cover all positions that the run may feed.

    steps @5 :UInt32 $Limits.maxValue(4096);
    # Tokens to draw at most. 0: the tokens are fed, and none is drawn.

    scores @6 :Int16 = -1;
    # As Prompt.promptLogprobs, of the tokens that are fed: each by the logits before it.

    awaitGate @7 :UInt64;
    # A layer is computed when it has passed this gate of the node. 0: none.

    openGate @8 :UInt64;
    # Is passed by each layer as it is computed, for movements that wait there. 0: none.
  }
}

enum EngineFault {
  none @0;
  badBatch @1;
  starved @2;   # A layer that was waited for did not come.
  device @3;
  busy @4;      # More Forwards than one and its successor.
}

struct RunResult {
  ticket @0 :UInt64;
  fault @1 :EngineFault;
  # Unless `none`, nothing was drawn, and the KV of the tokens fed is undefined.

  steps @2 :List(Step) $Limits.maxItems(4096);
  scores @3 :List(Scores) $Limits.maxItems(4096);

  struct Step {
    durationNs @0 :UInt64;
    drawn @1 :List(One) $Limits.maxItems(4096);
  }

  struct One {
    sequence @0 :UInt64;
    drawn @1 :Drawn;
    stopped @2 :Bool;
    # It is one of the sequence's stop tokens: the sequence takes no further part.
  }

  struct Scores {
    sequence @0 :UInt64;
    firstPosition @1 :UInt32;
    scores @2 :List(Drawn) $Limits.maxItems(Limits.partTokensMax);
  }
}

struct Forwarded {
  header @0 :Header;
  result @1 :RunResult;
}

struct Ran {
  # An engine host's thread, its timer, or a gate it waits for, to the host.
  header @0 :Header;
  result @1 :RunResult;
  number @2 :UInt64;
  # Of the timer or gate, which the host gave it: one that was overtaken is not heeded.
}

struct Interrupt {
  # Owner to engine host: end the run `ticket` after the step it is in.
  header @0 :Header;
  ticket @1 :UInt64;
}
