#include "actors/cluster/handbook.hpp"
#include "actors/cluster/topology_reader.hpp"
#include "schemas/assert.hpp"

#include <cstdint>
#include <string_view>

// Any text is read as a topology or refused with a reason; and what was read can be
// written down and read again.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perigee::cluster;
  std::string_view text{reinterpret_cast<const char*>(data), size};
  const reading how{"/fuzz.toml", {}};
  auto got = read_topology(text, how);
  if (!got) {
    PERIGEE_ASSERT(!to_string(got.error()).empty(), "refused without a reason");
    return 0;
  }
  if (got->nodes.size() > 16)
    return 0; // takes long, and shows no more
  auto again = read_topology(to_toml(*got), how);
  PERIGEE_ASSERT(again && *again == *got, "a topology is not what was written down");
  return 0;
}
