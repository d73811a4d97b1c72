#include "apps/perigee/journal_keeper.hpp"

#include "actors/cluster/handbook.hpp"
#include "actors/cluster/topology.hpp"
#include "actors/runtime/scribe.hpp"
#include "apps/perigee/message_book.hpp"

#include <algorithm>
#include <chrono>

namespace perigee::app {
namespace {

using std::chrono::nanoseconds;
// Inside the ear, `journal` is what it is derived from.
using journal::trouble;
using journal::writer;

/// From the actors' words to the journal's.
class ear final : public rt::journal {
public:
  explicit ear(writer& to) : to_(to) {}

  void introduce(const rt::identity& who, nanoseconds at) override {
    to_.introduce({bits(who.tag), who.name, who.role, who.where.index,
                   who.where.incarnation, who.life, who.seed, who.arguments,
                   at.count()});
  }

  void sent(rt::actor_tag by, rt::actor_tag to, std::uint64_t type, words_view words,
            nanoseconds delay) override {
    rt::with_header(words, [&](schema::Header::Reader header) {
      to_.sent({bits(by),
                bits(to),
                delay.count(),
                {header.getSender(), header.getSequence(), type, words}});
    });
  }

  void took(rt::actor_tag by, rt::actor_tag sender, std::uint64_t sequence,
            nanoseconds at, std::uint64_t type, words_view words) override {
    to_.took({bits(by), at.count(), {bits(sender), sequence, type, words}});
  }

  void absent(rt::actor_tag by) override {
    to_.absent({bits(by)});
  }

  void failed(rt::actor_tag by, std::uint64_t span, const rt::error& why) override {
    auto text = to_string(why);
    to_.failed({bits(by), span, to_trouble(why, text)});
  }

  void missed(rt::actor_tag by, std::uint64_t span, nanoseconds at,
              const rt::error& why) override {
    auto text = to_string(why);
    to_.missed({bits(by), span, at.count(), to_trouble(why, text)});
  }

  void lost(rt::actor_tag by, rt::actor_tag whom, nanoseconds at,
            const rt::error& why) override {
    auto text = to_string(why);
    to_.lost({bits(by), bits(whom), at.count(), to_trouble(why, text)});
  }

private:
  static std::uint64_t bits(rt::actor_tag tag) {
    return static_cast<std::uint64_t>(tag);
  }

  /// Who ended of its own accord did so for no error, which has neither of the numbers.
  static trouble to_trouble(const rt::error& why, std::string_view text) {
    if (!why)
      return {0, 0, "of its own accord"};
    return {static_cast<std::uint64_t>(why.category()), why.code(), text};
  }

  writer& to_;
};

/// Of all but secrets, which might be guessed from it.
std::uint64_t hash_of(cluster::topology all) {
  all.http.api_keys.clear();
  return static_cast<std::uint64_t>(rt::tag_of(cluster::to_toml(all)));
}

/// From moments of actors' clocks to those of the world's.
std::int64_t clock_offset() {
  auto ns = [](auto moment) {
    return std::chrono::duration_cast<nanoseconds>(moment.time_since_epoch()).count();
  };
  return ns(std::chrono::system_clock::now()) - ns(std::chrono::steady_clock::now());
}

} // namespace

void add_journal_options(CLI::App& to, journal_options& into) {
  auto* folder = to.add_option("--journal", into.folder,
                               "Keep every message between actors in this folder, for "
                               "`perigee trace`; what clients say and are told is "
                               "left out");
  to.add_option("--journal-size", into.total_bytes,
                "Most bytes that a node's journal may have, such as 256MiB; its oldest "
                "part goes first")
    ->transform(CLI::AsSizeValue(false))
    ->check(CLI::Range(2 * journal::segment_bytes_min, std::uint64_t{1} << 50))
    ->default_str("1GiB")
    ->needs(folder);
  to.add_option("--journal-segment", into.segment_bytes,
                "Bytes of one file of it, and so of what goes at once")
    ->transform(CLI::AsSizeValue(false))
    ->check(CLI::Range(journal::segment_bytes_min, std::uint64_t{1} << 40))
    ->default_str("32MiB")
    ->needs(folder);
  to.add_flag("--journal-plain", into.is_plain,
              "Keep token ids, too: whoever has the folder and the model can read what "
              "clients said")
    ->needs(folder);
}

void add_journal_arguments(std::vector<std::string>& to, const journal_options& how) {
  if (how.folder.empty())
    return;
  for (auto text : {std::string{"--journal"}, how.folder, std::string{"--journal-size"},
                    std::to_string(how.total_bytes), std::string{"--journal-segment"},
                    std::to_string(how.segment_bytes)})
    to.push_back(std::move(text));
  if (how.is_plain)
    to.emplace_back("--journal-plain");
}

result<std::unique_ptr<journal_keeper>, std::string>
journal_keeper::open(const journal_options& how, const journal_owner& whose,
                     const cluster::topology& all,
                     std::shared_ptr<spdlog::logger> log) {
  if (how.folder.empty())
    return std::unique_ptr<journal_keeper>{new journal_keeper{nullptr, log}};
  journal::settings asked;
  asked.folder = how.folder;
  asked.about.node = whose.node;
  asked.about.life = whose.life;
  asked.about.build = PERIGEE_VERSION;
  asked.about.topology = hash_of(all);
  asked.about.clock_offset = whose.is_virtual ? 0 : clock_offset();
  asked.about.is_redacted = !how.is_plain;
  asked.total_bytes = how.total_bytes;
  asked.segment_bytes = std::min(how.segment_bytes, how.total_bytes / 2);
  asked.in_background = !whose.is_virtual;
  using takes = journal::redactor::takes;
  asked.redacts = std::make_shared<const journal::redactor>(
    message_book{}.schemas(), how.is_plain ? takes::secrets : takes::token_ids_too);
  asked.on_failure
    = [log](const std::string& why) { log->error("journal_ended why=\"{}\"", why); };
  auto to = journal::writer::open(std::move(asked));
  if (!to)
    return failure(to.error());
  return std::unique_ptr<journal_keeper>{new journal_keeper{std::move(*to), log}};
}

journal_keeper::journal_keeper(std::unique_ptr<journal::writer> to,
                               std::shared_ptr<spdlog::logger> log)
  : log_(std::move(log)), writer_(std::move(to)), record_(&rt::no_journal()) {
  if (writer_) {
    ear_ = std::make_unique<ear>(*writer_);
    record_ = ear_.get();
  }
}

journal_keeper::~journal_keeper() {
  if (!writer_)
    return;
  if (auto lost = writer_->left_out())
    log_->warn("journal_has_gaps records_left_out={}", lost);
  if (auto dropped = writer_->segments_dropped())
    log_->info("journal_rotated segments_dropped={}", dropped);
}

} // namespace perigee::app
