/// \file
/// The numeric profile: what the bits of our results depend on beside the weights.
#pragma once

#include <array>
#include <cstddef>

namespace perigee::engine::cpu {

/// To be raised with every change that alters a bit of any result: caches hold KV from
/// before.
inline constexpr std::size_t numeric_profile = 1;

/// SHA-256 of `weights`, the digest of a file, and of the profile.
std::array<std::byte, 32> digest_with_profile(const std::array<std::byte, 32>& weights);

} // namespace perigee::engine::cpu
