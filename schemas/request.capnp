@0x8fa8d0bf27ba5d41;
# A request's way from the gateway to its placement, and of its tokens back.
#
#   gateway --Arrive--> rejector --Place--> conductor --Expect--> decode instance
#                                               |------Prefill--> prefill group
#   gateway <---------------Placed--------------|
#   gateway --------------------------Prompt (parts)------------> prefill group
#                       prefill group --Room, Handoff, Landed---> decode instance
#   gateway <--------------------Tokens-------------------------- decode instance
#
# A coupled instance is group and decode instance in one: it takes Prefill and Prompt, and
# tells Tokens. There is no Expect then, and no hand-off.
#
# All are told, both ways. `request` names one attempt to serve a client's request: the
# gateway never gives out the same twice under its name, and a second attempt has another.
# Every answer goes to an actor that the question names; it may find that the request has
# ended there, and is dropped.
#
# Order: messages from one sender to one receiver arrive in the order sent; between different
# senders there is none. So a Prompt may come before its Prefill, a Room before its Expect,
# and a Cancel before either: who is told to cancel what it does not know yet remembers that.

using Cxx = import "/capnp/c++.capnp";
using Limits = import "limits.capnp";
using import "header.capnp".ActorName;
using import "header.capnp".Header;
using import "block.capnp".BlockChain;
using import "block.capnp".BlockKey;
using import "block.capnp".Role;
using import "block.capnp".Stages;
$Cxx.namespace("perigee::schema");

struct Wish {
  # What placing a request depends on.

  gateway @0 :ActorName;
  # To be told what came of it.

  request @1 :UInt64;
  promptTokens @2 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  # At least 1.

  tokensMax @3 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  # The longest answer that is wanted, at least 1.

  chain @4 :BlockChain;
  # Keys of the prompt's full blocks.

  remainingNs @5 :UInt64;
  # How long the client still waits for the whole answer. Relative, because clocks
  # disagree: whoever handles this counts from when it arrived.

  ttftLimitNs @6 :UInt64;
  tbtLimitNs @7 :UInt64;
  # The client's objectives. 0: the cluster's.
}

struct Arrive {
  # Gateway to rejector: answered by one Placed, from the rejector or the conductor.
  header @0 :Header;
  wish @1 :Wish;
}

struct Place {
  # Rejector to conductor: it may be placed. Answered, to the gateway, by one Placed.
  header @0 :Header;
  wish @1 :Wish;
  admissionNs @2 :UInt64;
}

struct Refusal {
  why @0 :Reason;

  load @1 :Float64;
  # What was measured or predicted, as a share of its limit: above 1 is why it is refused.

  retryAfterNs @2 :UInt64;
  # When it may be worth to ask again.

  enum Reason {
    unknown @0;
    prefillLoad @1;  # The objective for the first token could not be met.
    decodeLoad @2;   # The objective between tokens could not be met.
    queueFull @3;    # Too many requests wait.
    noInstance @4;   # No prefill group or no decode instance is up.
    tooLong @5;      # No instance can hold this many tokens, ever.
    draining @6;     # The cluster takes no more.
  }
}

struct Placed {
  # Rejector or conductor to gateway.
  header @0 :Header;
  request @1 :UInt64;

  union {
    cancelled @2 :Void;
    # As the gateway wanted; nobody holds anything of it.

    refused @3 :Refusal;
    placed @4 :Plan;
  }

  struct Plan {
    prefill @0 :ActorName;
    # Now waits for the Prompt.

    decode @1 :ActorName;
    reuseBlocks @2 :UInt32 $Limits.maxValue(Limits.promptBlocksMax);
    # Blocks of the prompt that need not be computed, by the index.

    ttftNs @3 :UInt64;
    tbtNs @4 :UInt64;
    # As predicted.

    coupled @5 :Bool;
    # Both names are one coupled instance's, which takes the Prompt and tells the Tokens.
  }
}

struct Expect {
  # Conductor to decode instance: will be handed to you.
  header @0 :Header;
  request @1 :UInt64;
  gateway @2 :ActorName;
  prefill @3 :ActorName;
  promptTokens @4 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  tokensMax @5 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  inNs @6 :UInt64;
  # When, as predicted.
  remainingNs @7 :UInt64;
}

struct Prefill {
  # Conductor to prefill group or coupled instance: compute this, once its Prompt is here.
  # A coupled instance reuses what it has itself, whatever it says of that.
  header @0 :Header;
  request @1 :UInt64;
  gateway @2 :ActorName;
  decode @3 :ActorName;
  promptTokens @4 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  tokensMax @5 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  chain @6 :BlockChain;

  reuseBlocks @7 :UInt32 $Limits.maxValue(Limits.promptBlocksMax);
  # So many blocks from the front of the chain, `source` holds: fetch them. 0: none. Never
  # all of the prompt: its last token is always computed.

  source @8 :ActorName;
  # A shard, of this node or another.

  remainingNs @9 :UInt64;
  tbtLimitNs @10 :UInt64;
  stages @11 :Stages;
  predictedNs @12 :UInt64;
  # What the computation alone will take.
}

struct Sampling {
  # In the words of the OpenAI API and of vLLM; see engine/sampling/sampler.hpp.
  temperature @0 :Float64 = 1;
  topK @1 :UInt32;
  topP @2 :Float64 = 1;
  minP @3 :Float64;
  repetitionPenalty @4 :Float64 = 1;
  frequencyPenalty @5 :Float64;
  presencePenalty @6 :Float64;
  seed @7 :UInt64;
  biases @8 :List(Bias) $Limits.maxItems(1024);

  logprobs @9 :Int16 = -1;
  # Likeliest tokens told with each one. -1: not even its own probability.

  stopTokens @10 :List(UInt32) $Limits.maxItems(256) $Limits.tokenIds;
  # End the answer; ends of the model's own among them, unless they are to be ignored.

  tokensMin @11 :UInt32;
  modelledTokens @12 :UInt32;
  # For modelled engines alone: the length of the answer that a trace recorded. Nobody else
  # may read it.

  struct Bias {
    token @0 :UInt32 $Limits.tokenIds;
    bias @1 :Float64;
  }
}

struct Prompt {
  # Gateway to prefill group or coupled instance: the tokens, in parts, in order.
  header @0 :Header;
  request @1 :UInt64;
  firstToken @2 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  # The position of the first of `tokens`.

  tokens @3 :List(UInt32) $Limits.maxItems(Limits.partTokensMax) $Limits.tokenIds;
  last @4 :Bool;
  sampling @5 :Sampling;
  # In the last part.

  promptLogprobs @6 :Int16 = -1;
  # As in Sampling, of the prompt's own tokens: told in PromptScores. Then nothing is
  # reused. In the last part.
}

struct TokenScore {
  token @0 :UInt32 $Limits.tokenIds;
  logprob @1 :Float32;
}

struct Drawn {
  token @0 :UInt32 $Limits.tokenIds;
  logprob @1 :Float32;
  top @2 :List(TokenScore) $Limits.maxItems(Limits.logprobsMax);
}

struct PromptScores {
  # Prefill group or coupled instance to gateway, before the first of the Tokens.
  header @0 :Header;
  request @1 :UInt64;
  firstToken @2 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  # The position of the first of `scores`; the prompt's very first token has none.
  scores @3 :List(Drawn) $Limits.maxItems(4096);
}

struct Room {
  # Prefill group to decode instance: I begin to compute this. Answered by one Roomed, when
  # there is room, or when it is plain that there will be none.
  header @0 :Header;
  request @1 :UInt64;
  prefill @2 :ActorName;
  gateway @3 :ActorName;
  promptTokens @4 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  remainingNs @5 :UInt64;
}

struct Roomed {
  header @0 :Header;
  request @1 :UInt64;
  union {
    gone @2 :Void;
    # Cancelled, or its time is over: stop.

    busy @3 :Void;
    # Too many wait here already.

    given @4 :Given;
  }
  struct Given {
    segment @0 :UInt64;
    blocks @1 :List(UInt32) $Limits.maxItems(Limits.promptBlocksMax);
    # Of that segment, one for each block of the prompt, the partial one included. Written
    # by the group alone until it says Landed.
  }
}

struct Handoff {
  # Prefill group to decode instance: the prompt is computed; its KV is on its way.
  # Answered by one HandedOff.
  header @0 :Header;
  request @1 :UInt64;
  prefill @2 :ActorName;
  gateway @3 :ActorName;
  promptTokens @4 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  cachedTokens @5 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  first @6 :Drawn;
  tail @7 :List(UInt32) $Limits.maxItems(4096) $Limits.tokenIds;
  # Tokens of the prompt's last, partial block.

  parent @8 :BlockKey;
  # Of the prompt's last full block; the root of all chains if it has none.

  depth @9 :UInt32 $Limits.maxValue(Limits.promptBlocksMax);
  # Full blocks of the prompt.

  sampling @10 :Sampling;
  seen @11 :List(UInt32) $Limits.maxItems(Limits.vocabularyMax) $Limits.tokenIds;
  # Distinct tokens of the prompt, for the repetition penalty: only if there is one.

  tokensMax @12 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  remainingNs @13 :UInt64;
  tbtLimitNs @14 :UInt64;
  stages @15 :Stages;
}

struct HandedOff {
  header @0 :Header;
  request @1 :UInt64;
  union {
    gone @2 :Void;
    refused @3 :Refusal;
    accepted @4 :Void;
    # Its first token is on the way to the gateway.
  }
}

struct Landed {
  # Prefill group to decode instance, once for every request that it was to hand over:
  # every block of the prompt is in your arena; or it never will be, and nobody writes
  # there any more.
  header @0 :Header;
  request @1 :UInt64;
  ok @2 :Bool;
}

enum End {
  none @0;       # There is more to come.
  stop @1;       # By a stop token.
  length @2;
  refused @3;    # After prefill, by the decode instance: see `refusal`.
  cancelled @4;
  deadline @5;
  actorLost @6;
  engineFailed @7;
  transferFailed @8;
  busy @9;       # A limit of an instance was reached.
}

struct Tokens {
  # To a gateway: what a run gave its requests. The last of a request has an `end`, and
  # nothing follows it.
  header @0 :Header;
  runs @1 :List(Run) $Limits.maxItems(4096);

  stepNs @2 :List(UInt64) $Limits.maxItems(4096);
  # How long each step took, of which the last has just ended: a run's i-th token was drawn
  # in the i-th. Empty: all tokens were drawn just now.

  struct Run {
    request @0 :UInt64;
    tokens @1 :List(Drawn) $Limits.maxItems(4096);
    # A stop token that ended the answer is not among them.

    end @2 :End;
    stopToken @3 :UInt32 $Limits.tokenIds;
    refusal @4 :Refusal;
    cachedTokens @5 :UInt32;
    stages @6 :Stages;
    # With the first token, and with the end.
  }
}

struct Cancel {
  # Gateway to whoever may hold something of it: to the rejector, who passes it on to the
  # conductor, until it is placed; then to prefill group, decode instance and conductor.
  # Each answers with one Cancelled, once it holds nothing more.
  header @0 :Header;
  request @1 :UInt64;
  gateway @2 :ActorName;
}

struct Cancelled {
  header @0 :Header;
  request @1 :UInt64;
  by @2 :Role;
}

struct Submit {
  # The gateway's own threads, or a trace's reader, to the gateway's actor: a request, in
  # parts as a Prompt.
  header @0 :Header;
  stream @1 :UInt64;
  # Names the request to who submits it; unique in its time.

  firstToken @2 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  tokens @3 :List(UInt32) $Limits.maxItems(Limits.partTokensMax) $Limits.tokenIds;
  last @4 :Bool;

  # All below in the last part.

  sampling @5 :Sampling;
  promptLogprobs @6 :Int16 = -1;
  tokensMax @7 :UInt32 $Limits.maxValue(Limits.promptTokensMax);
  chain @8 :BlockChain;
  remainingNs @9 :UInt64;
  ttftLimitNs @10 :UInt64;
  tbtLimitNs @11 :UInt64;
  stages @12 :Stages;
}

struct Withdraw {
  # As Submit: the client has gone, or has all it wants.
  header @0 :Header;
  stream @1 :UInt64;
}
