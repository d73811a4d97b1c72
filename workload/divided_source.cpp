#include "workload/divided_source.hpp"

#include "schemas/assert.hpp"

namespace perigee::workload {

divided_source::divided_source(request_source& all, std::uint32_t by)
  : all_(all), by_(by) {
  PERIGEE_ASSERT(divides_blocks(by), "blocks are divided into whole tokens");
}

next_request divided_source::next() {
  auto got = all_.next();
  if (got && *got) {
    auto divided = [this](std::uint32_t tokens) { return (tokens + by_ - 1) / by_; };
    (*got)->input_tokens = divided((*got)->input_tokens);
    (*got)->output_tokens = divided((*got)->output_tokens);
  }
  return got;
}

} // namespace perigee::workload
