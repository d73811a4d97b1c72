#include "tests/fuzz/workload_reading.hpp"
#include "workload/azure_reader.hpp"

#include <cstdint>
#include <set>

// Any text is read as one of Azure's tables, or refused with file and line, or its wrong
// rows are counted; and no two blocks of it are the same.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace perigee;
  std::string text{reinterpret_cast<const char*>(data), size};
  std::set<std::uint64_t> ids;
  for (const auto& one : fuzz::read_both_ways<workload::azure_reader>(text).requests) {
    PERIGEE_ASSERT(!one.session, "a session that no table tells of");
    if (ids.size() > 10'000)
      break; // takes long, and shows no more
    for (auto id : one.block_ids)
      PERIGEE_ASSERT(ids.insert(id).second, "a block that is shared");
  }
  return 0;
}
