/// \file
/// What must hold of any text that is read as a trace.
#pragma once

#include "schemas/assert.hpp"
#include "workload/line_source.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace perigee::fuzz {

/// All that a reader gives, until its end or its complaint.
struct trace_read {
  std::vector<workload::request> requests;
  std::optional<workload::complaint> wrong;
  std::size_t skipped = 0;
};

inline void judge(const workload::request& one, std::chrono::nanoseconds latest) {
  using namespace workload;
  PERIGEE_ASSERT(one.arrival >= latest && one.arrival <= arrival_max,
                 "a request out of order, or after the last moment");
  PERIGEE_ASSERT(one.input_tokens >= 1 && one.input_tokens <= tokens_max
                   && one.output_tokens >= 1 && one.output_tokens <= tokens_max,
                 "a length outside its limits");
  PERIGEE_ASSERT(one.block_ids.size() == blocks_of(one.input_tokens),
                 "blocks that don't match the length");
}

inline void judge(const workload::complaint& wrong, const std::string& text) {
  auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  PERIGEE_ASSERT(wrong.line <= lines, "a line that is not there");
  PERIGEE_ASSERT(to_string(wrong).starts_with("fuzz:"), "a complaint without its file");
}

template <class Reader>
trace_read read_trace(const std::string& text, workload::strictness how) {
  std::istringstream in{text};
  Reader reader{in, "fuzz", how};
  trace_read all;
  std::chrono::nanoseconds latest{0};
  for (;;) {
    auto got = reader.next();
    if (!got) {
      judge(got.error(), text);
      all.wrong = got.error();
      PERIGEE_ASSERT(reader.next() && !*reader.next(), "more after a complaint");
    }
    if (!got || !*got)
      break;
    judge(**got, latest);
    latest = (*got)->arrival;
    all.requests.push_back(std::move(**got));
  }
  const auto& skipped = reader.skipped();
  all.skipped = std::accumulate(skipped.begin(), skipped.end(), std::size_t{0});
  return all;
}

/// Reads `text` strictly and leniently: what the strict reader gives, the lenient one
/// gives first, and the lenient one passes lines over just if the strict one complains
/// of a line. Returns what the lenient one read.
template <class Reader>
trace_read read_both_ways(const std::string& text) {
  auto strict = read_trace<Reader>(text, workload::strictness::strict);
  auto lenient = read_trace<Reader>(text, workload::strictness::lenient);
  PERIGEE_ASSERT(strict.skipped == 0, "a strict reader passed over a line");
  PERIGEE_ASSERT(strict.requests.size() <= lenient.requests.size()
                   && std::equal(strict.requests.begin(), strict.requests.end(),
                                 lenient.requests.begin()),
                 "a lenient reader reads something else");
  PERIGEE_ASSERT(strict.wrong || lenient.skipped == 0,
                 "a line passed over that nothing is wrong with");
  PERIGEE_ASSERT(!strict.wrong || lenient.wrong || lenient.skipped > 0,
                 "a wrong line that nobody counts");
  PERIGEE_ASSERT(!lenient.wrong || lenient.requests.empty(),
                 "a lenient reader complains of a line");
  return lenient;
}

} // namespace perigee::fuzz
