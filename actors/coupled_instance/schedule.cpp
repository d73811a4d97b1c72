#include "actors/coupled_instance/schedule.hpp"

#include <algorithm>
#include <array>

namespace perigee::coupled {
namespace {

/// One batch as it is put together.
class planner {
public:
  explicit planner(request_line& line)
    : line_(line), budget_(line.limits().token_budget) {}

  /// Waiting prompts, each whole.
  void begin_whole_prompts() {
    while (auto* one = next()) {
      auto tokens = line_.fresh_tokens_of_next();
      if (!next_.work.empty() && tokens > budget_)
        return;
      if (!line_.begin_next(tokens))
        return;
      give(*one);
    }
  }

  /// The rest of a prompt that was too long for a batch; nothing else has a part then.
  void go_on_with_cut_prompt() {
    for (auto* one : line_.served())
      if (!one->decodes())
        return give(*one);
  }

  /// Waiting prompts, as far as the budget lets.
  void begin_cut_prompts() {
    while (auto* one = next()) {
      if (budget_ == 0 || !line_.begin_next(std::min(budget_, one->share_max)))
        return;
      give(*one);
    }
  }

  /// Who is served, in the order they came.
  void go_on() {
    for (std::size_t i = 0; i < line_.served().size() && budget_ > 0; ++i) {
      auto& one = *line_.served()[i];
      if (may_have_part(one) && make_room(one, part_of(one)))
        give(one);
    }
  }

  bool is_empty() const {
    return next_.work.empty();
  }
  bool has_preempted() const {
    return !next_.preempted.empty();
  }

  iteration finish() {
    if (next_.work.empty() && line_.served().empty() && line_.waiting() > 0)
      next_.hopeless = line_.next()->request;
    next_.steps = all_decode_ ? steps() : 1;
    return std::move(next_);
  }

private:
  /// Who may begin in this batch.
  entry* next() {
    auto* one = line_.next();
    if (!one || line_.served().size() >= line_.limits().sequences_max)
      return nullptr;
    bool is_told
      = news_ == 0 || news_ + one->news_bytes <= line_.limits().news_bytes_max;
    return is_told && may_have_part(*one) ? one : nullptr;
  }

  bool may_have_part(const entry& one) const {
    return !one.is_scored || !has_scored_;
  }

  std::uint32_t part_of(const entry& one) const {
    return std::min({one.rest(), budget_, one.share_max});
  }

  void give(const entry& one) {
    auto tokens = part_of(one);
    next_.work.push_back({one.request, tokens});
    budget_ -= tokens;
    has_scored_ = has_scored_ || (one.is_scored && !one.decodes());
    all_decode_ = all_decode_ && one.decodes();
    news_ += one.is_told ? 0 : one.news_bytes;
  }

  /// Whoever is youngest goes until there are blocks for `one`, itself at the last.
  bool make_room(const entry& one, std::uint32_t tokens) {
    while (!line_.grow(one, tokens)) {
      auto& gone = line_.preempt_youngest();
      next_.preempted.push_back(gone.request);
      if (&gone == &one)
        return false;
    }
    return true;
  }

  /// As many as all can take in the blocks that they have: to take one that is needed
  /// later would make the arena another one than if steps were taken one by one.
  std::uint32_t steps() const {
    auto most = line_.limits().steps_max;
    for (const auto& part : next_.work) {
      const auto& one = line_.at(part.request);
      most = std::min({most, one.text.draws_left(),
                       line_.tables().positions_of(one.table) - one.computed});
    }
    return std::max(most, 1u);
  }

  request_line& line_;
  std::uint32_t budget_;
  iteration next_;
  std::size_t news_ = 0;
  bool has_scored_ = false;
  bool all_decode_ = true;
};

constexpr std::array<std::string_view, 2> names{"prefill_first", "chunked"};

} // namespace

iteration schedule_prefill_first(request_line& line) {
  planner batch{line};
  batch.go_on_with_cut_prompt();
  if (batch.is_empty())
    batch.begin_whole_prompts();
  if (batch.is_empty())
    batch.go_on();
  return batch.finish();
}

iteration schedule_chunked(request_line& line) {
  planner batch{line};
  batch.go_on();
  if (!batch.has_preempted())
    batch.begin_cut_prompts();
  return batch.finish();
}

std::span<const std::string_view> scheduler_names() {
  return names;
}

scheduler find_scheduler(std::string_view name) {
  if (name == "prefill_first")
    return schedule_prefill_first;
  if (name == "chunked")
    return schedule_chunked;
  return nullptr;
}

} // namespace perigee::coupled
