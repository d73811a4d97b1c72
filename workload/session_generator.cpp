#include "workload/session_generator.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <cmath>

namespace perigee::workload {
namespace {

std::string limits(const char* what, double low, double high) {
  auto number = [](double value) {
    auto text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.')
      text.pop_back();
    return text;
  };
  return std::string{what} + " is expected from " + number(low) + " to " + number(high);
}

std::optional<std::string> fault_of(const length_law& law, const std::string& what) {
  auto most = static_cast<double>(tokens_max);
  if (!(law.median >= 1 && law.median <= most))
    return limits(("the median " + what).c_str(), 1, most);
  if (!(law.mean >= law.median && law.mean <= 100 * law.median))
    return "the mean " + what + " is expected from its median to 100 times that";
  return {};
}

std::optional<std::string> fault_of(const std::vector<tree_level>& tree,
                                    std::uint64_t input_max) {
  std::uint64_t nodes = 0;
  std::uint64_t level_nodes = 1;
  std::uint64_t tokens = 0;
  for (const auto& level : tree) {
    if (level.tokens < 1 || level.tokens > tokens_max || level.branches < 1
        || level.branches > session_generator::tree_nodes_max)
      return "a level of the tree is expected to have tokens and branches";
    level_nodes *= level.branches;
    nodes += level_nodes;
    tokens += level.tokens;
    if (nodes > session_generator::tree_nodes_max)
      return "the tree is expected to have at most "
             + std::to_string(session_generator::tree_nodes_max) + " nodes";
  }
  if (tokens >= input_max)
    return "the tree is expected to be shorter than the longest input, "
           + std::to_string(input_max) + " tokens";
  return {};
}

/// Marsaglia and Tsang's method; a shape below 1 by way of the shape above it.
double gamma(chance& dice, double shape) {
  if (shape < 1) {
    double power = natural_log(1 - dice.uniform()) / shape;
    return gamma(dice, shape + 1) * natural_exp(std::max(power, -700.0));
  }
  double d = shape - 1.0 / 3;
  double c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x = dice.normal();
    double v = 1 + c * x;
    if (v <= 0)
      continue;
    v = v * v * v;
    if (natural_log(1 - dice.uniform()) < 0.5 * x * x + d - d * v + d * natural_log(v))
      return d * v;
  }
}

} // namespace

std::optional<std::string> fault_of(const session_law& law) {
  if (!(law.rate >= 1e-4 && law.rate <= 1e5))
    return limits("the rate", 1e-4, 1e5);
  if (!(law.burstiness >= 0.01 && law.burstiness <= 1000))
    return limits("the burstiness", 0.01, 1000);
  if (!(law.turns_mean >= 1 && law.turns_mean <= 1000))
    return limits("the mean number of turns", 1, 1000);
  if (!(law.think_mean.count() >= 0 && law.think_mean.count() <= 86'400))
    return limits("the mean time between turns, in seconds,", 0, 86'400);
  if (law.input_max < 1 || law.input_max > tokens_max)
    return limits("the longest input", 1, static_cast<double>(tokens_max));
  if (auto wrong = fault_of(law.input, "input"))
    return wrong;
  if (auto wrong = fault_of(law.output, "output"))
    return wrong;
  return fault_of(law.tree, law.input_max);
}

session_generator::session_generator(session_law law, std::uint64_t seed)
  : law_{std::move(law)}, dice_{seed} {
  PERIGEE_ASSERT(!fault_of(law_), "who takes a law from a user checks it");
  grow(0, {}, 0);
}

void session_generator::grow(std::size_t level, const std::vector<std::uint64_t>& above,
                             std::uint64_t tokens) {
  if (level == law_.tree.size()) {
    leaves_.push_back(above);
    tree_tokens_ = tokens;
    return;
  }
  auto here = tokens + law_.tree[level].tokens;
  for (std::size_t i = 0; i < law_.tree[level].branches; ++i)
    grow(level + 1, numbers_.chain(above, tokens, here), here);
}

std::uint64_t session_generator::length(const length_law& law) {
  double sigma = std::sqrt(2 * natural_log(law.mean / law.median));
  double tokens = law.median * natural_exp(sigma * dice_.normal());
  return static_cast<std::uint64_t>(
    std::clamp(std::round(tokens), 1.0, static_cast<double>(tokens_max)));
}

double session_generator::gap() {
  double mean = law_.turns_mean / law_.rate;
  if (law_.burstiness == 1)
    return dice_.exponential(mean);
  return gamma(dice_, law_.burstiness) / law_.burstiness * mean;
}

void session_generator::begin_session() {
  turn first;
  first.seconds = next_session_;
  first.session = sessions_++;
  first.tokens_before = tree_tokens_;
  first.block_ids = leaves_[dice_.below(leaves_.size())];
  first.block_tokens_known = tree_tokens_;
  turns_.push(std::move(first));
  next_session_ += gap();
}

request session_generator::take(turn one) {
  request asked;
  asked.arrival = std::chrono::nanoseconds{std::llround(one.seconds * 1e3) * 1'000'000};
  auto tokens = std::min(one.tokens_before + length(law_.input), law_.input_max);
  asked.input_tokens = static_cast<std::uint32_t>(tokens);
  asked.output_tokens = static_cast<std::uint32_t>(length(law_.output));
  asked.block_ids = numbers_.chain(one.block_ids, one.block_tokens_known, tokens);
  asked.session = one.session;
  if (one.before)
    asked.think = asked.arrival - *one.before;
  bool goes_on = law_.turns_mean > 1 && dice_.happens(1 - 1 / law_.turns_mean);
  auto before = tokens + asked.output_tokens;
  if (goes_on && before < law_.input_max && turns_.size() < open_max)
    turns_.push({one.seconds + dice_.exponential(law_.think_mean.count()),
                 asked.arrival, one.session, before, asked.block_ids, tokens});
  return asked;
}

next_request session_generator::next() {
  if (turns_.empty() || turns_.top().seconds > next_session_)
    begin_session();
  auto one = turns_.top();
  turns_.pop();
  if (one.seconds > std::chrono::duration<double>(arrival_max).count())
    return std::optional<request>{};
  return std::optional{take(std::move(one))};
}

} // namespace perigee::workload
