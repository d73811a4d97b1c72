#include "apps/perigee/trace/course.hpp"
#include "apps/perigee/trace/export.hpp"

#include <fmt/format.h>

#include <set>

namespace perigee::app::trace {
namespace {

/// '#' and ';' mean something in the language.
std::string plain(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c == '#' || c == ';')
      out += c == '#' ? "#35;" : "#59;";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return out;
}

std::uint32_t whom(const message& one) {
  return one.taker != 0 ? one.taker : one.to;
}

} // namespace

void write_mermaid(const history& all, std::size_t request, std::FILE* to) {
  fmt::print(to, "sequenceDiagram\n");
  auto course = course_of(all, request);
  std::set<std::uint32_t> known;
  for (const auto& step : course) {
    const auto& one = all.messages[step.message];
    for (auto who : {one.by, whom(one)})
      if (!step.is_shared && known.insert(who).second)
        fmt::print(to, "  participant a{} as {}\n", who, plain(all.actors[who].label));
  }
  std::size_t left_out = 0;
  for (const auto& step : course) {
    const auto& one = all.messages[step.message];
    if (step.is_shared) {
      ++left_out;
      continue;
    }
    auto began = all.messages[course.front().message].sent_at;
    fmt::print(to, "  a{}{}a{}: {} at {:.3f} ms\n", one.by,
               one.taken_in != 0 ? "->>" : "-x", whom(one),
               one.type ? one.type->name : "(unknown)",
               static_cast<double>(one.sent_at - began) * 1e-6);
  }
  if (left_out > 0 && !known.empty())
    fmt::print(to, "  Note over a{}: {} messages of batches with others are left out\n",
               *known.begin(), left_out);
}

} // namespace perigee::app::trace
