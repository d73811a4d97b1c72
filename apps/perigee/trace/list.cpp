#include "apps/perigee/trace/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace perigee::app::trace {
namespace {

using gateway::stage;
using std::chrono::nanoseconds;

std::string ms(nanoseconds span) {
  return fmt::format("{:.1f}", static_cast<double>(span.count()) * 1e-6);
}

/// Stages that took any time in any request.
std::vector<stage> stages_used(const history& all) {
  std::vector<stage> used;
  for (std::size_t i = 0; i < gateway::stages_count; ++i) {
    auto which = static_cast<stage>(i);
    auto is_used = [&](const request& one) {
      return one.to_end && (*one.to_end)[which] != nanoseconds{};
    };
    if (std::ranges::any_of(all.requests, is_used))
      used.push_back(which);
  }
  return used;
}

nanoseconds key_of(const request& one, list_order by) {
  const auto& times = by == list_order::ttft ? one.to_first_token : one.to_end;
  return times ? times->total() : nanoseconds{-1};
}

std::vector<std::size_t> ordered(const history& all, const list_options& how) {
  std::vector<std::size_t> order(all.requests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (how.by != list_order::arrival)
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t at) {
      return key_of(all.requests[at], how.by);
    });
  if (how.first > 0 && how.first < order.size())
    order.resize(how.first);
  return order;
}

std::string line_of(const request& one, std::int64_t began, std::size_t number_width,
                    const std::vector<stage>& used) {
  auto total_ms = [](const auto& times) { return times ? ms(times->total()) : "-"; };
  auto text = fmt::format(
    "{:>{}} {:>11.3f} {:<21} {:>8} {:>8} {:>7} {:>10} {:>10}",
    std::to_string(one.number), number_width,
    static_cast<double>(one.arrived_at - began) * 1e-9, one.outcome,
    one.has_beginning ? std::to_string(one.input_tokens) : "-", one.cached_tokens,
    one.output_tokens, total_ms(one.to_first_token), total_ms(one.to_end));
  for (auto which : used)
    text += fmt::format(" {:>12}", one.to_end ? ms((*one.to_end)[which]) : "-");
  return text;
}

} // namespace

void print_list(const history& all, const list_options& how, std::FILE* to) {
  auto used = stages_used(all);
  std::size_t width = 7;
  for (const auto& one : all.requests)
    width = std::max(width, std::to_string(one.number).size());
  auto began = all.requests.empty() ? 0 : all.requests.front().arrived_at;
  fmt::print(to, "{:>{}} {:>11} {:<21} {:>8} {:>8} {:>7} {:>10} {:>10}", "request",
             width, "arrived_s", "outcome", "input", "cached", "output", "ttft_ms",
             "total_ms");
  for (auto which : used)
    fmt::print(to, " {:>12}", name_of(which));
  fmt::print(to, "\n");
  for (auto at : ordered(all, how))
    fmt::print(to, "{}\n", line_of(all.requests[at], began, width, used));
  auto cut = std::ranges::count(all.requests, false, &request::has_beginning);
  if (cut > 0)
    fmt::print(to,
               "{} of them began before what is left of the journals: they are called "
               "by a number that the gateway gave them\n",
               cut);
}

} // namespace perigee::app::trace
