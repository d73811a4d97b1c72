#include "engine/cpu/numeric_profile.hpp"

#include "schemas/assert.hpp"

#include <openssl/evp.h>

#include <string>

namespace perigee::engine::cpu {

std::array<std::byte, 32>
digest_with_profile(const std::array<std::byte, 32>& weights) {
  auto text = "perigee cpu " + std::to_string(numeric_profile) + "\n";
  text.append(reinterpret_cast<const char*>(weights.data()), weights.size());
  std::array<std::byte, 32> digest{};
  unsigned length = 0;
  auto done = EVP_Digest(text.data(), text.size(),
                         reinterpret_cast<unsigned char*>(digest.data()), &length,
                         EVP_sha256(), nullptr);
  PERIGEE_ASSERT(done == 1 && length == digest.size(), "SHA-256 is always there");
  return digest;
}

} // namespace perigee::engine::cpu
