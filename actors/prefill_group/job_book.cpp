#include "actors/prefill_group/job_book.hpp"

namespace perigee::prefill {

job* job_book::open(std::uint64_t request) {
  if (auto* known = find(request))
    return known;
  if (jobs_.size() >= jobs_max_)
    return nullptr;
  auto& made = jobs_[request];
  made.request = request;
  return &made;
}

totals job_book::sum() const {
  totals all;
  for (const auto& [request, one] : jobs_) {
    if (!one.plan || one.now > stage::computing)
      continue;
    auto reused = (*one.plan)->getReuseBlocks() * block_tokens_;
    all.tokens_ahead
      += one.prompt_tokens() - (one.now < stage::computing ? reused : one.computed);
    ++(one.times.compute_began == moment{} ? all.waiting : all.running);
  }
  return all;
}

} // namespace perigee::prefill
