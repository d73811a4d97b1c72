#include "apps/perigee/trace/history_reader.hpp"

#include "actors/runtime/scribe.hpp"

#include <filesystem>
#include <fstream>
#include <map>

namespace perigee::app::trace {
namespace {

/// As rt::scribe names what it writes.
std::uint64_t span_of(const journal::message& what) {
  return rt::mix(what.sender + what.sequence);
}

/// "n0@3" of "n0@3/decode.2#1".
std::string process_of(const std::string& name) {
  return name.substr(0, name.find('/'));
}

/// Without lives if each node has one only, and without "#1".
void label(std::vector<actor>& actors) {
  std::map<std::string, std::map<std::string, int>> lives;
  for (const auto& one : actors)
    ++lives[one.node][process_of(one.name)];
  for (auto& one : actors) {
    one.label = one.name;
    if (one.label.ends_with("#1"))
      one.label.resize(one.label.size() - 2);
    auto process = process_of(one.name);
    if (!one.node.empty() && lives[one.node].size() == 1)
      one.label.replace(0, process.size(), one.node);
  }
}

} // namespace

std::string actor::process() const {
  return process_of(name);
}

std::vector<std::string>
for_each_record(const std::vector<journal::life_folder>& lives,
                const std::function<void(const journal::record&)>& see) {
  std::vector<std::string> warnings;
  for (const auto& life : lives)
    for (const auto& path : life.segments) {
      std::ifstream file{path, std::ios::binary};
      if (!file) {
        warnings.push_back(path.string() + " can't be opened");
        continue;
      }
      journal::segment_reader reader{file, path.string()};
      for (;;) {
        auto got = reader.next();
        if (!got)
          warnings.push_back(to_string(got.error()) + "; the rest of it is left out");
        if (!got || !*got)
          break;
        see(**got);
      }
      if (reader.torn())
        warnings.push_back(to_string(*reader.torn()));
    }
  return warnings;
}

void history_reader::take(const journal::record& one) {
  std::visit([&](const auto& it) { on(it); }, one);
}

history history_reader::finish() {
  label(all_.actors);
  notes_.conclude();
  return std::move(all_);
}

void history_reader::on(const journal::opening& one) {
  offset_ = one.clock_offset;
  now_ = one.at + offset_;
  if (one.segment == 1 || all_.builds.empty())
    all_.builds.emplace_back(one.build);
}

void history_reader::on(const journal::introduction& one) {
  auto place = actor_of(one.tag);
  auto& who = all_.actors[place];
  if (!who.node.empty())
    return; // it is repeated
  who.name = one.name;
  who.node = who.name.substr(0, who.name.find('@'));
  who.role = one.role;
  who.arguments = one.arguments;
  who.seed = one.seed;
  who.began_at = one.at + offset_;
}

/// A stranger has its number for a name, until it is introduced.
std::uint32_t history_reader::actor_of(std::uint64_t tag) {
  if (tag == 0)
    return 0;
  auto place = static_cast<std::uint32_t>(all_.actors.size());
  auto [found, is_new] = actors_.try_emplace(tag, place);
  if (is_new) {
    all_.actors.push_back({.tag = tag, .name = "?" + std::to_string(tag)});
    handling_now_.push_back(0);
  }
  return found->second;
}

/// Also one that nobody has told of yet.
std::uint32_t history_reader::message_of(const journal::message& what) {
  auto span = span_of(what);
  auto place = static_cast<std::uint32_t>(all_.messages.size());
  auto [found, is_new] = all_.by_span.try_emplace(span, place);
  if (is_new) {
    message one;
    one.span = span;
    one.by = actor_of(what.sender);
    one.type = book_.find(what.type);
    all_.messages.push_back(one);
  }
  return found->second;
}

void history_reader::fill(std::uint32_t place, const journal::message& what) {
  auto& one = all_.messages[place];
  if (one.has_words)
    return;
  one.bytes = static_cast<std::uint32_t>(what.words.size_bytes());
  bool is_known = one.type && one.type == book_.find(what.type);
  if (!is_known || one.type->judged_by->find_fault(what.words)) {
    ++all_.unreadable;
    return;
  }
  one.has_words = true;
  rt::with_header(what.words, [&](schema::Header::Reader header) {
    one.parent = header.getParentSpan();
    one.sent_at = header.getSentNs() + offset_;
  });
  notes_.note(place, what.type, what.words);
}

std::uint32_t history_reader::begin(std::uint32_t by, std::uint32_t of,
                                    std::int64_t at) {
  now_ = at + offset_;
  auto place = static_cast<std::uint32_t>(all_.handlings.size());
  all_.handlings.push_back({by, of, now_});
  handling_now_[by] = place;
  return place;
}

void history_reader::on(const journal::sending& one) {
  auto by = actor_of(one.by);
  auto to = actor_of(one.to);
  auto place = message_of(one.what);
  if (one.by != one.what.sender)
    return; // passed on
  auto& sent = all_.messages[place];
  sent.to = to;
  sent.delay = one.delay;
  sent.sent_in = handling_now_[by];
  if (!one.what.words.empty())
    fill(place, one.what);
}

void history_reader::on(const journal::taking& one) {
  auto by = actor_of(one.by);
  auto place = message_of(one.what);
  if (!one.what.words.empty())
    fill(place, one.what);
  auto handled = begin(by, place, one.at);
  auto& taken = all_.messages[place];
  taken.taker = by;
  taken.taken_at = now_;
  taken.taken_in = handled;
}

void history_reader::on(const journal::absence& one) {
  static_cast<void>(actor_of(one.by));
  ++all_.absences;
}

void history_reader::on(const journal::failing& one) {
  all_.incidents.push_back({incident::what::answered_with_error, actor_of(one.by), 0,
                            one.span, now_, std::string{one.why.text}});
}

void history_reader::on(const journal::missing& one) {
  auto by = actor_of(one.by);
  begin(by, 0, one.at);
  all_.incidents.push_back(
    {incident::what::got_error, by, 0, one.span, now_, std::string{one.why.text}});
}

void history_reader::on(const journal::losing& one) {
  auto by = actor_of(one.by);
  begin(by, 0, one.at);
  all_.incidents.push_back({incident::what::lost_somebody, by, actor_of(one.whom), 0,
                            now_, std::string{one.why.text}});
}

void history_reader::on(const journal::gap& one) {
  all_.left_out += one.records;
}

history read_history(const std::vector<journal::life_folder>& lives,
                     const message_book& book) {
  history_reader reader{book};
  auto warnings
    = for_each_record(lives, [&](const journal::record& one) { reader.take(one); });
  auto all = reader.finish();
  all.warnings = std::move(warnings);
  std::error_code ignored;
  for (const auto& life : lives)
    for (const auto& path : life.segments)
      all.bytes += std::filesystem::file_size(path, ignored);
  return all;
}

void for_each_words(const std::vector<journal::life_folder>& lives, const history& all,
                    const std::function<void(std::uint32_t, words_view)>& see) {
  std::vector<bool> seen(all.messages.size());
  auto look = [&](const journal::message& what) {
    auto place = what.words.empty() ? 0 : all.find(span_of(what));
    if (place == 0 || !all.messages[place].has_words || seen[place]
        || all.messages[place].type->judged_by->find_fault(what.words))
      return;
    seen[place] = true;
    see(place, what.words);
  };
  for_each_record(lives, [&](const journal::record& one) {
    if (const auto* sent = std::get_if<journal::sending>(&one))
      look(sent->what);
    else if (const auto* taken = std::get_if<journal::taking>(&one))
      look(taken->what);
  });
}

} // namespace perigee::app::trace
