#include "apps/perigee/workload_generate.hpp"

#include "apps/perigee/workload_output.hpp"
#include "workload/cut.hpp"
#include "workload/like_generator.hpp"
#include "workload/session_generator.hpp"

#include <charconv>
#include <cstdio>
#include <memory>

namespace perigee::app {
namespace {

using namespace workload;

constexpr std::size_t requests_max = 100'000'000;

constexpr auto about
  = R"(Make a trace: either like a published one (--like), or to your own
measure. The same options and seed give the same bytes on every machine.)";

constexpr auto details = R"(
Your own measure: sessions begin at random, as many as give --rate requests a second.
Each begins with one path through --tree, adds an input of its own, and goes on for
--turns turns on average, each of which repeats all that was said before.

  perigee workload generate --rate 8 --burstiness 0.25 --requests 1000
  perigee workload generate --turns 4 --think 20 --tree 2048x1,1024x8 --requests 1000

The second one has 8 kinds of sessions: all share a prompt of 2048 tokens, and those of
one kind 1024 more. Each later turn says whose it is (session_id) and how long its client
thinks (think_ms): `perigee replay` sends it so long after the answer before it. Its
timestamp is when it would come if answers took no time.)";

struct wishes {
  std::string like;
  std::size_t requests = 1000;
  std::uint64_t seed = 1;
  std::string out = "-";
  std::optional<double> rate;
  std::string tree;
  double think_seconds = 30;
  session_law law;
};

exit_code misused(const std::string& why) {
  std::fprintf(stderr,
               "perigee workload generate: %s\nperigee workload generate --help "
               "tells of each option.\n",
               why.c_str());
  return exit_code::misused;
}

/// `2048x1,1024x8`.
std::optional<std::vector<tree_level>> tree_of(std::string_view text) {
  std::vector<tree_level> levels;
  const auto* at = text.data();
  const auto* end = at + text.size();
  while (at != end) {
    tree_level level;
    auto tokens = std::from_chars(at, end, level.tokens);
    if (tokens.ec != std::errc{} || tokens.ptr == end || *tokens.ptr != 'x')
      return {};
    auto branches = std::from_chars(tokens.ptr + 1, end, level.branches);
    if (branches.ec != std::errc{})
      return {};
    levels.push_back(level);
    at = branches.ptr;
    if (at != end && (*at++ != ',' || at == end))
      return {};
  }
  return levels;
}

exit_code write(request_source& from, const wishes& how) {
  cut_source part{from, {.first = how.requests}};
  if (auto wrong = write_trace(part, how.out)) {
    std::fprintf(stderr, "perigee workload generate: %s\n", wrong->c_str());
    return exit_code::failed;
  }
  return exit_code::good;
}

exit_code run(wishes how) {
  if (!how.like.empty()) {
    like_generator all{*find_likeness(how.like), how.seed, how.rate};
    return write(all, how);
  }
  auto tree = tree_of(how.tree);
  if (!tree)
    return misused("--tree: found '" + how.tree.substr(0, 40)
                   + "'; expected TOKENSxBRANCHES for each level, as 2048x1,1024x8");
  how.law.tree = *tree;
  how.law.rate = how.rate.value_or(how.law.rate);
  how.law.think_mean = std::chrono::duration<double>{how.think_seconds};
  if (auto wrong = fault_of(how.law))
    return misused(*wrong);
  session_generator all{how.law, how.seed};
  return write(all, how);
}

/// What says how an own trace is, and would say nothing of one like another.
void add_own_measure(CLI::App& to, wishes& how, CLI::Option* like) {
  auto add = [&](const char* name, auto& value, const char* what) {
    to.add_option(name, value, what)
      ->capture_default_str()
      ->excludes(like)
      ->group("Your own measure");
  };
  add("--burstiness", how.law.burstiness,
      "How sessions begin: 1 by chance (Poisson), less in bursts, more evenly; the "
      "shape of the gaps' gamma distribution");
  add("--input-mean", how.law.input.mean, "Tokens that a turn adds");
  add("--input-median", how.law.input.median, "Half of the turns add fewer");
  add("--output-mean", how.law.output.mean, "Tokens that are answered");
  add("--output-median", how.law.output.median, "Half of the answers are shorter");
  add("--turns", how.law.turns_mean, "Turns of a session, on average");
  add("--think", how.think_seconds,
      "Seconds from an answer to the session's next turn, on average");
  add("--tree", how.tree,
      "Shared beginnings, from the root: TOKENSxBRANCHES for each level, as "
      "2048x1,1024x8");
  add("--input-max", how.law.input_max, "A session ends before its input is longer");
}

} // namespace

void add_generate(CLI::App& to, session& all) {
  auto how = std::make_shared<wishes>();
  auto* generate = to.add_subcommand(
    "generate", "Make a trace, like a published one or to your own measure");
  generate->description(about);
  std::string kinds = "A published trace's traffic, from its printed statistics:";
  std::vector<std::string> names;
  for (const auto& kind : likenesses()) {
    names.emplace_back(kind.name);
    kinds += "\n" + std::string{kind.name} + ": " + std::string{kind.what};
  }
  generate->footer(details);
  auto* like
    = generate->add_option("--like", how->like, kinds)->check(CLI::IsMember(names));
  generate->add_option("--requests", how->requests, "How many")
    ->check(CLI::Range(std::size_t{1}, requests_max))
    ->capture_default_str();
  generate->add_option("--seed", how->seed, "Another number makes another such trace")
    ->capture_default_str();
  generate
    ->add_option("--rate", how->rate,
                 "Requests a second; left out, the published trace's, or 1")
    ->check(CLI::Range(1e-4, 1e5));
  generate->add_option("--out", how->out, "Where to write it; - is stdout")
    ->capture_default_str();
  add_own_measure(*generate, *how, like);
  generate->callback([how, &all] { all.left = run(*how); });
}

} // namespace perigee::app
