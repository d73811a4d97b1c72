@0xf0348c3b8c7d1e80;
# Limits that the type of a field cannot express. schemas/fault.cpp enforces them on every
# message that arrives from another node, before any field of it is read.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("perigee::schema");

annotation maxItems @0xa6d4f669c89e75c7 (field) :UInt32;
# Most elements of a List, or bytes of a Text or Data. Every such field must carry one.

annotation maxValue @0xb148523355e6a3d0 (field) :UInt64;
# Greatest legal value of an unsigned integer.

annotation tokenIds @0x86ca7c00fd381747 (field) :Void;
# Holds ids of tokens: what a client said or was told. Journals leave them out, unless told
# otherwise. Every such field must carry it.

annotation secret @0xd5b1c07e9a43f826 (field) :Void;
# Bytes by which somebody is let in. Journals never have them. Every such field must carry it.

const promptBlocksMax :UInt32 = 65536;
# Blocks of the longest prompt: prompt_blocks_max in schemas/vocabulary.hpp.

const promptTokensMax :UInt32 = 1048576;
# Tokens of the longest sequence: prompt_tokens_max there.

const partTokensMax :UInt32 = 262144;
# Token ids in one message: a quarter of the longest prompt.

const vocabularyMax :UInt32 = 524288;
# Tokens of the largest vocabulary.

const logprobsMax :UInt32 = 64;
# Likeliest tokens that are told with each one.
