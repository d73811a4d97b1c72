#include "actors/decode_instance/guest_book.hpp"

#include <algorithm>

namespace perigee::decode {
namespace {

bool is_answered(const guest& one) {
  return one.is_accepted() && one.now != stage::ending;
}

} // namespace

guest* guest_book::open(std::uint64_t request) {
  if (auto* known = find(request))
    return known;
  if (guests_.size() >= guests_max_)
    return nullptr;
  auto& made = guests_[request];
  made.request = request;
  made.owner = ++owners_;
  return &made;
}

std::size_t guest_book::count_at(stage now) const {
  return static_cast<std::size_t>(
    std::count_if(guests_.begin(), guests_.end(),
                  [now](const auto& entry) { return entry.second.now == now; }));
}

std::vector<const guest*> guest_book::by_age(stage now) const {
  std::vector<const guest*> some;
  for (const auto& [request, one] : guests_)
    if (one.now == now)
      some.push_back(&one);
  std::sort(some.begin(), some.end(), [](auto* a, auto* b) { return a->age < b->age; });
  return some;
}

step_load guest_book::load(std::uint32_t steps) const {
  step_load all;
  for (const auto& [request, one] : guests_)
    if (is_answered(one)) {
      ++all.sequences;
      all.kv_tokens += one.kv_tokens_after(steps) + 1;
    }
  return all;
}

totals guest_book::sum(std::uint32_t steps) const {
  totals all;
  for (const auto& [request, one] : guests_)
    if (is_answered(one)) {
      bool takes_steps = one.began_at != moment{} && one.now == stage::ready;
      ++(takes_steps ? all.sequences : all.waiting);
      all.kv_tokens += one.kv_tokens_after(steps);
    }
  return all;
}

step_load guest_book::set_batch(const std::vector<std::uint64_t>& requests) {
  for (auto& [request, one] : guests_)
    one.batch_kv_tokens.reset();
  step_load first{requests.size(), 0};
  for (auto request : requests) {
    auto& one = at(request);
    one.batch_kv_tokens = one.answer->kv_tokens();
    first.kv_tokens += *one.batch_kv_tokens + 1;
  }
  return first;
}

} // namespace perigee::decode
