#include "workload/mooncake_writer.hpp"

namespace perigee::workload {
namespace {

std::string milliseconds(std::chrono::nanoseconds time) {
  constexpr std::int64_t one = 1'000'000;
  auto text = std::to_string(time.count() / one);
  auto rest = time.count() % one;
  if (rest == 0)
    return text;
  auto digits = std::to_string(one + rest).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return text + "." + digits;
}

} // namespace

std::string to_mooncake(const request& one) {
  auto line = "{\"timestamp\": " + milliseconds(one.arrival) + ", \"input_length\": "
              + std::to_string(one.input_tokens) + ", \"output_length\": "
              + std::to_string(one.output_tokens) + ", \"hash_ids\": [";
  const char* between = "";
  for (auto id : one.block_ids) {
    line += between;
    line += std::to_string(id);
    between = ", ";
  }
  line += "]";
  if (one.session)
    line += ", \"session_id\": " + std::to_string(*one.session);
  if (one.think)
    line += ", \"think_ms\": " + milliseconds(*one.think);
  return line + "}\n";
}

void write_mooncake(std::ostream& to, const request& one) {
  to << to_mooncake(one);
}

} // namespace perigee::workload
