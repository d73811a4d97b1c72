#include "apps/perigee/command.hpp"
#include "apps/perigee/trace/course.hpp"
#include "apps/perigee/trace/tables.hpp"

#include <cstdio>
#include <map>
#include <memory>

namespace perigee::app {
namespace {

struct trace_arguments {
  std::string folder;
  std::string request;
  trace::list_options list;
};

exit_code fail(const std::string& why) {
  std::fprintf(stderr, "perigee trace: %s\n", why.c_str());
  return exit_code::failed;
}

/// A history, and where it was read from.
struct loaded {
  std::vector<journal::life_folder> lives;
  message_book book;
  trace::history all;
};

void warn(const trace::history& all) {
  for (const auto& one : all.warnings)
    std::fprintf(stderr, "perigee trace: %s\n", one.c_str());
  if (all.left_out > 0)
    std::fprintf(stderr,
                 "perigee trace: %llu records are missing: the disk was too slow\n",
                 static_cast<unsigned long long>(all.left_out));
  if (all.unreadable > 0)
    std::fprintf(stderr,
                 "perigee trace: %llu messages can't be read: another version of "
                 "perigee wrote them, or they are damaged\n",
                 static_cast<unsigned long long>(all.unreadable));
}

/// Null, and it was said why, if there is nothing to read.
std::unique_ptr<loaded> load(const std::string& folder) {
  auto lives = journal::find_lives(folder);
  if (!lives) {
    fail(lives.error());
    return nullptr;
  }
  auto made = std::make_unique<loaded>();
  made->lives = std::move(*lives);
  made->all = trace::read_history(made->lives, made->book);
  warn(made->all);
  if (made->all.actors.size() > 1)
    return made;
  fail(folder + ": nothing in it could be read");
  return nullptr;
}

exit_code run_list(const trace_arguments& how) {
  auto from = load(how.folder);
  if (!from)
    return exit_code::failed;
  print_list(from->all, how.list, stdout);
  return exit_code::good;
}

exit_code run_show(const trace_arguments& how) {
  auto from = load(how.folder);
  if (!from)
    return exit_code::failed;
  auto found = find_request(from->all, how.request);
  if (!found)
    return fail(found.error());
  print_request(from->all, from->lives, *found, stdout);
  return exit_code::good;
}

} // namespace

void add_trace(CLI::App& to, session& all) {
  auto how = std::make_shared<trace_arguments>();
  auto* command = to.add_subcommand(
    "trace", "Say what happened, from the journals that serve and replay keep with "
             "--journal");
  command->footer("Examples:\n"
                  "  perigee trace j list --sort ttft --first 10\n"
                  "  perigee trace j show 17");
  command->require_subcommand(1);
  command->add_option("DIR", how->folder, "The folder that --journal named")
    ->required();
  auto* list = command->add_subcommand(
    "list", "A line for each request: outcome, tokens, times, sums of its stages");
  static const std::map<std::string, trace::list_order> orders{
    {"arrival", trace::list_order::arrival},
    {"ttft", trace::list_order::ttft},
    {"total", trace::list_order::total}};
  list->add_option("--sort", how->list.by, "arrival; ttft or total: the longest first")
    ->transform(CLI::Transformer(orders))
    ->default_str("arrival");
  list->add_option("--first", how->list.first, "At most so many requests");
  list->callback([how, &all] { all.left = run_list(*how); });
  auto* show = command->add_subcommand(
    "show", "One request: every message in order of time, and its stages, exactly");
  show->add_option("REQUEST", how->request, "As `list` calls it; or its trace id")
    ->required();
  show->callback([how, &all] { all.left = run_show(*how); });
}

} // namespace perigee::app
