#include "actors/gateway/open_requests.hpp"

#include "schemas/assert.hpp"

namespace perigee::gateway {

auto open_requests::open(open_request one) -> table::value_type& {
  PERIGEE_ASSERT(!one.tokens.empty(), "a request that waits has its prompt");
  auto number = ++number_;
  bool is_new = by_stream_.emplace(one.stream, number).second;
  PERIGEE_ASSERT(is_new, "two open requests of one stream");
  prompt_tokens_ += one.tokens.size();
  return *all_.emplace(number, std::move(one)).first;
}

auto open_requests::find(std::uint64_t number) -> table::value_type* {
  auto found = all_.find(number);
  return found == all_.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> open_requests::number_of(std::uint64_t stream) const {
  auto found = by_stream_.find(stream);
  return found == by_stream_.end() ? std::nullopt : std::optional{found->second};
}

void open_requests::run(open_request& one) {
  if (one.tokens.empty())
    return; // it does already
  prompt_tokens_ -= one.tokens.size();
  one.tokens = {};
  ++running_;
}

open_request open_requests::take(std::uint64_t number) {
  auto node = all_.extract(number);
  PERIGEE_ASSERT(!node.empty(), "an open request of that number");
  auto& one = node.mapped();
  by_stream_.erase(one.stream);
  prompt_tokens_ -= one.tokens.size();
  running_ -= one.tokens.empty();
  return std::move(one);
}

} // namespace perigee::gateway
