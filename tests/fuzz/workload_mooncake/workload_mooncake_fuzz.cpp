#include "tests/fuzz/workload_reading.hpp"
#include "workload/mooncake_reader.hpp"
#include "workload/mooncake_writer.hpp"

#include <cstdint>

// Any text is read as a Mooncake trace, or refused with file and line, or its wrong lines
// are counted; and what was read can be written down and read again.

namespace {

using namespace perigee;
using namespace perigee::workload;

/// Later times are read to a few nanoseconds only: JSON's numbers are no finer.
constexpr std::chrono::hours exact_until{24 * 10};

void write_and_read(const std::vector<request>& all) {
  std::string text;
  for (const auto& one : all)
    if (one.arrival <= exact_until)
      text += to_mooncake(one);
  auto again = fuzz::read_trace<mooncake_reader>(text, strictness::strict);
  PERIGEE_ASSERT(text.empty() || !again.wrong, "what was written can't be read");
  PERIGEE_ASSERT(std::equal(again.requests.begin(), again.requests.end(), all.begin()),
                 "a trace is not what was written down");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text{reinterpret_cast<const char*>(data), size};
  write_and_read(fuzz::read_both_ways<mooncake_reader>(text).requests);
  return 0;
}
