#include "apps/perigee/workload_output.hpp"

#include "workload/mooncake_writer.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>

namespace perigee::app {
namespace {

using namespace workload;

double percent(double share) {
  return 100 * share;
}

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

void print_row(const char* name, const length_summary& lengths) {
  std::printf("  %-7s %10.1f", name, lengths.mean);
  for (auto value : {lengths.least, lengths.p1, lengths.p10, lengths.p25, lengths.p50,
                     lengths.p75, lengths.p90, lengths.p95, lengths.p99, lengths.most})
    std::printf(" %7llu", static_cast<unsigned long long>(value));
  std::printf("\n");
}

void print_depths(const std::vector<depth_hits>& depths) {
  std::printf("\nHits by a block's position in its prompt\n"
              "  position         blocks      hits\n");
  for (std::size_t i = 0; i < depths.size(); ++i) {
    const auto& one = depths[i];
    auto range = std::to_string(one.from);
    if (i + 1 == depths.size())
      range += " on";
    else if (depths[i + 1].from > one.from + 1)
      range += " to " + std::to_string(depths[i + 1].from - 1);
    std::printf("  %-12s %10llu %8.1f %%\n", range.c_str(),
                static_cast<unsigned long long>(one.blocks),
                percent(share(one.hits, one.blocks)));
  }
}

} // namespace

std::optional<std::string> write_trace(request_source& from, const std::string& out) {
  std::ofstream file;
  if (out != "-")
    file.open(out);
  auto& to = out == "-" ? std::cout : static_cast<std::ostream&>(file);
  while (to) {
    auto got = from.next();
    if (!got)
      return to_string(got.error());
    if (!*got)
      break;
    write_mooncake(to, **got);
  }
  if (!to.flush())
    return (out == "-" ? "stdout" : out) + " can't be written";
  return {};
}

void print_summary(const trace_summary& all) {
  double seconds = std::chrono::duration<double>(all.duration).count();
  std::printf("requests         %zu\n", all.requests);
  std::printf("duration         %.3f s", seconds);
  if (seconds > 0)
    std::printf(", %.3f requests/s, %.0f input tokens/s",
                static_cast<double>(all.requests) / seconds,
                all.input.mean * static_cast<double>(all.requests) / seconds);
  std::printf("\narrival times    %zu different\n", all.arrival_times);
  if (all.waiting > 0)
    std::printf("closed loop      %zu wait for an answer before\n", all.waiting);
  std::printf(
    "blocks           %llu of 512 tokens, %llu different, %.1f %% of these in "
    "one request only\n",
    static_cast<unsigned long long>(all.blocks),
    static_cast<unsigned long long>(all.blocks_different),
    percent(share(all.blocks_once, all.blocks_different)));
  std::printf("hottest blocks   in so many requests:");
  for (auto times : all.hottest)
    std::printf(" %llu", static_cast<unsigned long long>(times));
  std::printf(
    "\n\nTokens         mean     min      P1     P10     P25     P50     P75     "
    "P90     P95     P99     max\n");
  print_row("input", all.input);
  print_row("output", all.output);
  std::printf("\nBest possible hit rate, of a cache that forgets nothing\n"
              "  by blocks        %5.1f %%\n"
              "  by tokens        %5.1f %%\n"
              "  mean of requests %5.1f %%\n",
              percent(all.hits.by_blocks), percent(all.hits.by_tokens),
              percent(all.hits.per_request));
  print_depths(all.by_depth);
}

} // namespace perigee::app
