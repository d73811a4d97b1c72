/// \file
/// bench_serve_prompt: the HTTP requests that stand for those of a trace. Pure.
#pragma once

#include "workload/request.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace perigee::app {

/// What prompts are made of.
struct prompt_material {
  std::uint32_t block_tokens = 512; ///< That an id of the trace stands for.
  /// Lower ones are likely to be control tokens or single bytes, and so are the highest.
  std::uint32_t token_first = 1'000;
  std::uint32_t token_last = 29'999;
  std::uint64_t seed = 1; ///< Others give other tokens, which no cache has.
  std::string model;      ///< Empty: the one that is served.
};

/// The tokens of a prompt, of which equal ids of blocks, in equal places, give equal
/// ones: what is a common prefix in the trace is one here.
std::vector<std::uint32_t> tokens_of(const workload::request& one,
                                     const prompt_material& from);

/// The body of a POST to /v1/completions that asks for as many tokens as the trace
/// says, as a stream.
std::string body_of(const workload::request& one, const prompt_material& from);

} // namespace perigee::app
