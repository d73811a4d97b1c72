#include "actors/coupled_instance/request_line.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <cmath>

namespace perigee::coupled {

entry& request_line::add(std::uint64_t request, sequence text) {
  auto [at, is_new] = all_.try_emplace(
    request, entry{.request = request, .text = std::move(text), .age = ++ages_});
  PERIGEE_ASSERT(is_new, "a request comes once");
  at->second.share_max = limits_.token_budget;
  waiting_.push_back(&at->second);
  return at->second;
}

void request_line::remove(std::uint64_t request) {
  auto& one = all_.at(request);
  if (one.table != 0) {
    close_table(one);
    std::erase(served_, &one);
  } else {
    std::erase(waiting_, &one);
  }
  all_.erase(request);
}

void request_line::close_table(entry& one) {
  tables_.close(one.table);
  if (one.is_told)
    closed_.push_back(one.table);
  one.table = 0;
  one.computed = 0;
  one.is_told = false;
  one.blocks_told = 0;
}

void request_line::fed(entry& one, std::uint32_t tokens) {
  auto before = one.computed / tables_.block_tokens();
  one.computed += tokens;
  if (one.computed / tables_.block_tokens() > before)
    tables_.store(one.table, one.text, one.computed);
}

std::size_t request_line::spare() const {
  if (served_.empty())
    return 0; // whoever is alone may have all
  return static_cast<std::size_t>(
    std::ceil(limits_.watermark * static_cast<double>(tables_.blocks())));
}

bool request_line::begin_next(std::uint32_t fresh_max) {
  auto& one = *waiting_.front();
  auto opened = tables_.open(one.text, fresh_max, spare());
  if (!opened)
    return false;
  waiting_.pop_front();
  one.table = opened->id;
  one.computed = opened->cached_tokens;
  if (!std::exchange(one.has_begun, true))
    one.cached = opened->cached_tokens;
  served_.insert(std::upper_bound(served_.begin(), served_.end(), &one,
                                  [](auto* a, auto* b) { return a->age < b->age; }),
                 &one);
  return true;
}

entry& request_line::preempt_youngest() {
  auto& one = *served_.back();
  served_.pop_back();
  close_table(one);
  waiting_.push_front(&one);
  return one;
}

line_totals request_line::sum() const {
  line_totals all;
  for (const auto& [request, one] : all_) {
    bool is_answered = one.text.size() > one.text.prompt_tokens();
    if (is_answered) {
      ++all.answered;
      all.answered_kv += one.text.size();
    } else {
      ++(one.table != 0 ? all.prefilling : all.waiting);
      all.tokens_ahead += one.rest();
    }
    if (one.table != 0)
      all.blocks_needed += tables_.blocks_for(one.text.size());
  }
  return all;
}

} // namespace perigee::coupled
