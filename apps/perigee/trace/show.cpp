#include "apps/perigee/trace/course.hpp"
#include "apps/perigee/trace/tables.hpp"
#include "apps/perigee/trace/words_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace perigee::app::trace {
namespace {

using gateway::stage;
using gateway::timings;
using std::chrono::nanoseconds;

constexpr std::size_t fields_length_max = 160;

double ms(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-6;
}

/// Milliseconds to the nanosecond, without going through a double.
std::string exact_ms(nanoseconds span) {
  auto ns = span.count();
  auto size = ns < 0 ? -ns : ns;
  return fmt::format("{}{}.{:06}", ns < 0 ? "-" : "", size / 1'000'000,
                     size % 1'000'000);
}

void print_head(const request& one, std::FILE* to) {
  fmt::print(to, "request {} of {}: {}\n", one.number, one.process, one.outcome);
  if (!one.has_beginning)
    fmt::print(to, "its beginning is not in the journals\n");
  if ((one.trace_high | one.trace_low) != 0)
    fmt::print(to, "trace {:016x}{:016x}\n", one.trace_high, one.trace_low);
  fmt::print(to, "tokens: {} in, of which {} cached; {} out, of at most {}\n",
             one.input_tokens, one.cached_tokens, one.output_tokens, one.tokens_max);
  if (one.attempts.size() > 1)
    fmt::print(to, "placed {} times\n", one.attempts.size());
}

std::string taker_of(const history& all, const message& one) {
  auto whom = one.taker != 0 ? one.taker : one.to;
  return whom != 0 ? all.actors[whom].label : "?";
}

std::string flight_of(const message& one) {
  if (one.taken_in == 0)
    return "never";
  auto late = fmt::format("{:.3f}", ms(one.on_the_way()));
  return one.delay != 0 ? late + " after " + fmt::format("{:.3f}", ms(one.delay))
                        : late;
}

struct width {
  std::size_t by = 4, to = 2, what = 7;
};

std::string name_of(const history& all, const step& one) {
  const auto& sent = all.messages[one.message];
  return std::string(std::min(one.depth, 12u), ' ')
         + (sent.type ? sent.type->name : "(unknown)") + (one.is_shared ? " *" : "");
}

width widths(const history& all, const std::vector<step>& course) {
  width most;
  for (const auto& one : course) {
    const auto& sent = all.messages[one.message];
    most.by = std::max(most.by, all.actors[sent.by].label.size());
    most.to = std::max(most.to, taker_of(all, sent).size());
    most.what = std::max(most.what, name_of(all, one).size());
  }
  return most;
}

void print_course(const history& all, const std::vector<step>& course,
                  const std::map<std::uint32_t, std::string>& fields, std::FILE* to) {
  auto columns = widths(all, course);
  auto began = all.messages[course.front().message].sent_at;
  fmt::print(to, "\n{:>12} {:>10}  {:<{}}    {:<{}}  {:<{}} {:>8}\n", "sent_ms",
             "way_ms", "from", columns.by, "to", columns.to, "message", columns.what,
             "bytes");
  for (const auto& one : course) {
    const auto& sent = all.messages[one.message];
    auto said = fields.find(one.message);
    fmt::print(to, "{:>12.3f} {:>10}  {:<{}} -> {:<{}}  {:<{}} {:>8}  {}\n",
               ms(sent.sent_at - began), flight_of(sent), all.actors[sent.by].label,
               columns.by, taker_of(all, sent), columns.to, name_of(all, one),
               columns.what, sent.bytes, said == fields.end() ? "" : said->second);
  }
  if (std::ranges::any_of(course, &step::is_shared))
    fmt::print(to, "* of a run that others may have been in, too\n");
}

void print_incidents(const history& all, const std::vector<step>& course,
                     std::FILE* to) {
  std::map<std::uint64_t, std::string> names; // by span
  for (const auto& one : course)
    if (const auto& sent = all.messages[one.message]; sent.type)
      names.emplace(sent.span, sent.type->name);
  for (const auto& one : all.incidents)
    if (auto about = names.find(one.span); about != names.end())
      fmt::print(to, "{} {} {}: {}\n", all.actors[one.by].label,
                 one.it == incident::what::got_error ? "got an error for"
                                                     : "answered with an error to",
                 about->second, one.why);
}

void print_stages(const request& one, std::FILE* to) {
  if (!one.to_end && !one.to_first_token)
    return;
  fmt::print(to, "\n{:<14} {:>20} {:>20}\n", "stage, ms", "to the first token",
             "to the end");
  auto cell = [](const std::optional<timings>& times, stage which) {
    return times ? exact_ms((*times)[which]) : "-";
  };
  for (std::size_t i = 0; i < gateway::stages_count; ++i) {
    auto which = static_cast<stage>(i);
    auto first = cell(one.to_first_token, which), last = cell(one.to_end, which);
    if (which != stage::flush) // between gateway and client: not in any message
      fmt::print(to, "{:<14} {:>20} {:>20}\n", gateway::name_of(which), first, last);
  }
  auto sum = [](const auto& times) { return times ? exact_ms(times->total()) : "-"; };
  fmt::print(to, "{:<14} {:>20} {:>20}\n", "sum", sum(one.to_first_token),
             sum(one.to_end));
}

} // namespace

void print_request(const history& all, const std::vector<journal::life_folder>& lives,
                   std::size_t place, std::FILE* to) {
  auto course = course_of(all, place);
  std::map<std::uint32_t, std::string> fields;
  for (const auto& one : course)
    fields.emplace(one.message, "");
  for_each_words(lives, all, [&](std::uint32_t at, words_view words) {
    if (auto wanted = fields.find(at); wanted != fields.end())
      wanted->second = fields_of(*all.messages[at].type, words, fields_length_max);
  });
  print_head(all.requests[place], to);
  if (!course.empty())
    print_course(all, course, fields, to);
  print_incidents(all, course, to);
  print_stages(all.requests[place], to);
}

} // namespace perigee::app::trace
