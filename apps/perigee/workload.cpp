#include "apps/perigee/command.hpp"
#include "apps/perigee/trace_source.hpp"
#include "apps/perigee/workload_cache.hpp"
#include "apps/perigee/workload_generate.hpp"
#include "apps/perigee/workload_output.hpp"
#include "workload/azure_reader.hpp"
#include "workload/cut.hpp"
#include "workload/mooncake_reader.hpp"
#include "workload/mooncake_writer.hpp"
#include "workload/statistics.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>

namespace perigee::app {
namespace {

using namespace workload;

constexpr auto closing = R"(
A trace is a file of JSON Lines in Mooncake's format: when each request arrives, how long
its input and output are, and which blocks of 512 tokens its input consists of; requests
with the same first blocks have the same beginning, which a cache can spare.

Examples:
  perigee workload generate --like conversation --requests 500 --seed 7 > t.jsonl
  perigee workload stats t.jsonl
  perigee workload cache t.jsonl --policy lru,lfu --blocks 1000,10000
  perigee workload convert AzureLLMInferenceTrace_conv.csv --out azure.jsonl)";

exit_code fail(const char* command, const std::string& why) {
  std::fprintf(stderr, "perigee workload %s: %s\n", command, why.c_str());
  return exit_code::failed;
}

exit_code run_stats(const trace_source& from) {
  auto trace = open_trace(from);
  if (!trace)
    return fail("stats", trace.error());
  statistics all;
  for (;;) {
    auto got = (*trace)->requests().next();
    if (!got) {
      say_skipped("workload stats", (*trace)->skipped());
      return fail("stats", to_string(got.error()));
    }
    if (!*got)
      break;
    all.add(**got);
  }
  say_skipped("workload stats", (*trace)->skipped());
  print_summary(all.summary());
  return exit_code::good;
}

exit_code run_convert(const trace_source& from, const std::string& out) {
  std::ifstream file{from.file};
  if (!file)
    return fail("convert", from.file + " can't be opened");
  azure_reader reader{file, from.file, from.how()};
  cut_source part{reader, from.part(), from.file};
  auto wrong = write_trace(part, out);
  say_skipped("workload convert", reader.skipped());
  return wrong ? fail("convert", *wrong) : exit_code::good;
}

void add_stats(CLI::App& to, session& all) {
  auto from = std::make_shared<trace_source>();
  auto* stats = to.add_subcommand(
    "stats", "Say what a trace is like: requests, duration, lengths, and the hit rate "
             "of a cache that forgets nothing");
  stats->add_option("TRACE", from->file, "A trace in Mooncake's format")->required();
  add_trace_options(*stats, *from);
  stats->callback([from, &all] { all.left = run_stats(*from); });
}

void add_convert(CLI::App& to, session& all) {
  auto from = std::make_shared<trace_source>();
  auto out = std::make_shared<std::string>("-");
  auto* convert = to.add_subcommand(
    "convert", "Make a trace of an Azure (Splitwise) CSV: TIMESTAMP, ContextTokens, "
               "GeneratedTokens. It doesn't tell what prompts share, so they share "
               "nothing");
  convert->add_option("CSV", from->file, "The table")->required();
  convert->add_option("--out", *out, "Where to write it; - is stdout")
    ->capture_default_str();
  add_trace_options(*convert, *from);
  convert->callback([from, out, &all] { all.left = run_convert(*from, *out); });
}

} // namespace

void add_workload(CLI::App& to, session& all) {
  auto* command
    = to.add_subcommand("workload", "Make, measure and convert request traces");
  command->footer(closing);
  command->require_subcommand(1);
  add_generate(*command, all);
  add_stats(*command, all);
  add_cache(*command, all);
  add_convert(*command, all);
}

} // namespace perigee::app
