#include "apps/perigee/command.hpp"
#include "apps/perigee/trace/course.hpp"
#include "apps/perigee/trace/export.hpp"
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
  bool perfetto = false;
  bool batches = false;
  std::string mermaid; ///< The request to draw.
  std::string out;
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

exit_code run_stats(const trace_arguments& how) {
  auto from = load(how.folder);
  if (!from)
    return exit_code::failed;
  print_stats(from->all, stdout);
  return exit_code::good;
}

/// Where an export goes: a file, or stdout if none is named.
class destination {
public:
  explicit destination(const std::string& name)
    : file_(name.empty() ? stdout : std::fopen(name.c_str(), "w")) {}
  ~destination() {
    close();
  }
  destination(const destination&) = delete;
  destination& operator=(const destination&) = delete;

  std::FILE* file() const {
    return file_;
  }

  /// False if not all could be written.
  bool close() {
    if (!file_)
      return true;
    bool is_well = std::ferror(file_) == 0 && std::fflush(file_) == 0;
    if (file_ != stdout)
      is_well = std::fclose(file_) == 0 && is_well;
    file_ = nullptr;
    return is_well;
  }

private:
  std::FILE* file_;
};

exit_code run_export(const trace_arguments& how) {
  auto from = load(how.folder);
  if (!from)
    return exit_code::failed;
  std::optional<std::size_t> request;
  if (auto wanted = how.perfetto ? how.request : how.mermaid; !wanted.empty()) {
    auto found = find_request(from->all, wanted);
    if (!found)
      return fail(found.error());
    request = *found;
  }
  destination to{how.out};
  if (!to.file())
    return fail(how.out + " can't be written");
  if (how.perfetto)
    write_perfetto(from->all, request, to.file());
  else if (!how.batches)
    write_mermaid(from->all, *request, to.file());
  else if (write_batches(from->all, from->lives, to.file()) == 0)
    std::fprintf(stderr, "perigee trace: no batch in it has a row of its own\n");
  return to.close() ? exit_code::good : fail(how.out + " could not be written whole");
}

void add_export(CLI::App& to, const std::shared_ptr<trace_arguments>& how,
                session& all) {
  auto* draw = to.add_subcommand("export", "A file for another program to draw");
  auto* what = draw->add_option_group("WHAT");
  auto* perfetto = what->add_flag(
    "--perfetto", how->perfetto,
    "For ui.perfetto.dev: a track for each actor, arrows between them, engines' runs, "
    "and requests with their stages");
  what->add_option("--mermaid", how->mermaid,
                   "This request's sequence diagram, for Mermaid");
  what->add_flag(
    "--batches", how->batches,
    "How long engines took over which batches, as CSV for `perigee calibrate "
    "--from`");
  what->require_option(1);
  draw->add_option("--request", how->request, "Only what is about this one")
    ->needs(perfetto);
  draw->add_option("-o,--out", how->out, "Where to; else to stdout");
  draw->callback([how, &all] { all.left = run_export(*how); });
}

} // namespace

void add_trace(CLI::App& to, session& all) {
  auto how = std::make_shared<trace_arguments>();
  auto* command = to.add_subcommand(
    "trace", "Say what happened, from the journals that serve and replay keep with "
             "--journal");
  command->footer("Examples:\n"
                  "  perigee trace j list --sort ttft --first 10\n"
                  "  perigee trace j show 17\n"
                  "  perigee trace j export --perfetto -o j.json");
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
  auto* stats = command->add_subcommand(
    "stats",
    "Who says what how often, in how many bytes, and how long it is on its way");
  stats->callback([how, &all] { all.left = run_stats(*how); });
  add_export(*command, how, all);
}

} // namespace perigee::app
