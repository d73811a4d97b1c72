/// \file
/// A cluster to be replayed.
#pragma once

#include <string>

namespace perigee::app {

/// Two pools, and a model that is read for its shape alone.
inline const std::string modelled_cluster = R"([model]
path = ")" PERIGEE_SOURCE_DIR R"(/tests/engine/golden/tiny/q4_0.gguf"
block_tokens = 512
[slo]
ttft_ms = 30000
tbt_ms = 200
[hardware.box]
prefill_fixed_ms = 20
prefill_token_us = 50
prefill_pair_ns = 5
decode_fixed_ms = 10
decode_sequence_us = 100
decode_kv_token_ns = 50
transfer_fixed_us = 50
transfer_gib_per_s = 10
[[node]]
name = "p"
count = 2
cache_shard = { dram = "1GiB" }
prefill_group = [ { engine = "modelled", hardware = "box", arena = "1GiB" } ]
[[node]]
name = "d"
count = 2
cache_shard = { dram = "1GiB" }
decode_instance = [ { engine = "modelled", hardware = "box", arena = "1GiB" } ]
)";

} // namespace perigee::app
