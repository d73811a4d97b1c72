#include "apps/perigee/bench_serve.hpp"

#include "apps/perigee/bench_serve_client.hpp"
#include "apps/perigee/progress_bar.hpp"
#include "apps/perigee/replay_run.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace perigee::app {
namespace {

struct bench_arguments {
  trace_source trace;
  std::string url = "http://127.0.0.1:8000";
  client_settings client;
  std::uint64_t limit_s = 600;
  std::uint64_t ttft_ms = 30'000;
  std::uint64_t tbt_ms = 100;
  goodput_limits goodput;
  std::string json; // files; empty: none
  std::string csv;
};

exit_code fail(const std::string& why, exit_code code = exit_code::failed) {
  std::fprintf(stderr, "perigee bench serve: %s\n", why.c_str());
  return code;
}

told_run told_of(const bench_arguments& how) {
  return {
    how.url,
    how.trace.file,
    how.client.prompts.seed,
    {{std::chrono::milliseconds{how.ttft_ms}, std::chrono::milliseconds{how.tbt_ms}},
     how.goodput}};
}

figures figures_of(const served_trace& done, const yardstick& by) {
  auto sum = summarize(done.outcomes, by);
  sum.refused_by = done.refused_by;
  sum.failed_by = done.failed_by;
  auto all = client_figures(sum, done.gaps, by);
  auto add = [&](const std::string& name, std::uint64_t count) {
    all.push_back({name, whole(count)});
  };
  add("tokens.input", sum.input_tokens);
  add("tokens.cached", sum.cached_tokens);
  add("tokens.output", sum.output_tokens);
  add("tokens.unseen", done.tokens_unseen);
  for (const auto& [status, count] : done.answers)
    add("answers." + status, count);
  return all;
}

exit_code report(const bench_arguments& how, served_trace done) {
  auto told = told_of(how);
  auto all = figures_of(done, told.by);
  if (how.json != "-" && how.csv != "-")
    std::fputs(to_client_table(all, told).c_str(), stdout);
  bool good = true;
  if (!how.csv.empty())
    good = write_report(to_csv(done.outcomes), how.csv, "bench serve");
  replayed seen{std::move(done.outcomes), done.gaps, done.lasted, {}, {}};
  if (!how.json.empty())
    good = write_report(to_json(all, seen, told), how.json, "bench serve") && good;
  return good ? exit_code::good : exit_code::failed;
}

exit_code run(bench_arguments& how) {
  auto to = read_url(how.url);
  if (!to)
    return fail("--url: " + to.error(), exit_code::misused);
  if (how.client.prompts.token_first > how.client.prompts.token_last)
    return fail("--token-first is above --token-last", exit_code::misused);
  how.client.to = *to;
  how.client.limit = std::chrono::seconds{how.limit_s};
  how.client.prompts.block_tokens
    = static_cast<std::uint32_t>(workload::block_tokens) / how.trace.lengths_divided_by;
  auto trace = open_trace(how.trace);
  if (!trace)
    return fail(trace.error());
  progress_bar bar;
  auto done = serve_trace((*trace)->requests(), how.client, [&](auto sent, auto ended) {
    if (bar.is_due())
      bar.show((*trace)->share_read(),
               fmt::format("{} requests sent, {} ended", sent, ended));
  });
  if (!done)
    return fail(done.error());
  say_skipped("bench serve", (*trace)->skipped());
  return report(how, std::move(*done));
}

void add_prompt_options(CLI::App& to, bench_arguments& how) {
  auto& prompts = how.client.prompts;
  to.add_option("--model", prompts.model, "Which of the server's models");
  constexpr std::uint32_t token_max = (std::uint32_t{1} << 20) - 1;
  to.add_option("--token-first", prompts.token_first,
                "The lowest id of the tokens that prompts are made of")
    ->check(CLI::Range(std::uint32_t{0}, token_max))
    ->capture_default_str();
  to.add_option("--token-last", prompts.token_last, "The highest")
    ->check(CLI::Range(std::uint32_t{0}, token_max))
    ->capture_default_str();
  to.add_option("--seed", prompts.seed,
                "Decides which tokens; a new one finds nothing cached")
    ->capture_default_str();
}

void add_outputs(CLI::App& to, bench_arguments& how) {
  to.add_option("--ttft-ms", how.ttft_ms, "Objective for the first token")
    ->check(CLI::Range(1, 86'400'000))
    ->capture_default_str();
  to.add_option("--tbt-ms", how.tbt_ms,
                "Objective between tokens: the mean of a request's longest tenth")
    ->check(CLI::Range(1, 86'400'000))
    ->capture_default_str();
  add_goodput(to, how.goodput);
  to.add_option("--json", how.json,
                "All figures as one JSON object; - is stdout, in place of the table")
    ->type_name("FILE");
  to.add_option("--csv", how.csv,
                "A line for each request; - is stdout, in place of the table")
    ->type_name("FILE");
}

} // namespace

void add_bench_serve(CLI::App& to, session& all) {
  auto how = std::make_shared<bench_arguments>();
  auto* serve = to.add_subcommand(
    "serve",
    "Send a request trace over HTTP to a cluster that serves, this one or any with the "
    "OpenAI API, and say what its clients see, as `perigee replay` does");
  serve->footer(
    "Requests go to /v1/completions when the trace has them arrive, however long "
    "others "
    "take. Equal block ids in the trace become equal tokens, so prefixes are shared as "
    "they are there.\n\nExample:\n"
    "  perigee bench serve t.jsonl --url http://127.0.0.1:8000 --divide-lengths 32");
  serve->add_option("TRACE", how->trace.file, "A trace in Mooncake's format")
    ->required();
  serve->add_option("--url", how->url, "Where it serves")->capture_default_str();
  serve->add_option("--api-key", how->client.api_key, "Sent as a Bearer token")
    ->envname("OPENAI_API_KEY");
  add_trace_options(*serve, how->trace);
  add_divide_lengths(*serve, how->trace);
  add_prompt_options(*serve, *how);
  serve
    ->add_option("--open-max", how->client.open_max,
                 "Requests open at once; one more has failed")
    ->check(CLI::Range(std::size_t{1}, std::size_t{50'000}))
    ->capture_default_str();
  serve->add_option("--limit", how->limit_s, "Seconds that a request may take")
    ->check(CLI::Range(1, 86'400))
    ->capture_default_str();
  add_outputs(*serve, *how);
  serve->callback([how, &all] { all.left = run(*how); });
}

} // namespace perigee::app
