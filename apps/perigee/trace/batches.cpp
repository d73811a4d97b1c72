#include "apps/perigee/trace/export.hpp"
#include "schemas/forward.capnp.h"

#include <capnp/serialize.h>
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>

namespace perigee::app::trace {
namespace {

using work_list = capnp::List<schema::Forward::Work>::Reader;

/// Prompts' parts may be of one token by chance, and a prompt's last part draws.
bool decodes(work_list all, const std::string& owner_role) {
  for (auto one : all)
    if (one.getTokens().size() != 1 || one.getSteps() == 0)
      return false;
  return owner_role != "prefill";
}

bool waits_for_layers(work_list all) {
  for (auto one : all)
    if (one.getAwaitGate() != 0)
      return true;
  return false;
}

/// What an engine was asked for, as a measurement has it.
struct batch {
  bool decodes = false;
  std::uint64_t first = 0;  ///< Sequences; of a prompt, the tokens up to its end.
  std::uint64_t second = 0; ///< Tokens of KV that are read; of a prompt, those before.
};

/// Nothing if that is no row: several prompts, or prompts beside sequences that decode;
/// or if something else than computing may take its time.
std::optional<batch> to_batch(work_list all, const std::string& owner_role) {
  if (all.size() == 0 || waits_for_layers(all))
    return std::nullopt;
  if (decodes(all, owner_role)) {
    batch made{true, all.size()};
    for (auto one : all)
      made.second += one.getFirstPosition() + 1;
    return made;
  }
  if (all.size() > 1)
    return std::nullopt;
  auto begin = all[0].getFirstPosition();
  return batch{false, begin + all[0].getTokens().size(), begin};
}

/// Of a run of steps, in each of which every sequence has a token more: the one in its
/// middle.
void print_row(batch what, std::size_t steps, std::int64_t ns, std::FILE* to) {
  auto seconds = static_cast<double>(ns) * 1e-9 / static_cast<double>(steps);
  if (what.decodes)
    fmt::print(to, "decode,,,{},{},{:.9f}\n", what.first,
               what.second + what.first * (steps - 1) / 2, seconds);
  else
    fmt::print(to, "prefill,{},{},,,{:.9f}\n", what.first, what.second, seconds);
}

} // namespace

std::size_t write_batches(const history& all,
                          const std::vector<journal::life_folder>& lives,
                          std::FILE* to) {
  std::map<std::uint32_t, batch> asked; // by message
  std::size_t rows = 0;
  fmt::print(to, "kind,tokens,prefix,sequences,kv_tokens,seconds\n");
  for_each_words(lives, all, [&](std::uint32_t place, words_view words) {
    const auto& one = all.messages[place];
    capnp::FlatArrayMessageReader flat{kj::arrayPtr(words.data(), words.size()),
                                       {~std::uint64_t{0}, 4 * nesting_max}};
    if (one.type->name == "Forward") {
      auto work = flat.getRoot<schema::Forward>().getWork();
      if (auto what = to_batch(work, all.actors[one.by].role))
        asked.emplace(place, *what);
    } else if (one.type->name == "Forwarded" && one.taken_in != 0) {
      auto result = flat.getRoot<schema::Forwarded>().getResult();
      auto steps = result.getSteps().size();
      auto found = asked.extract(all.find(one.parent));
      if (found.empty() || result.getFault() != schema::EngineFault::NONE || steps == 0)
        return;
      auto ns = one.taken_at - all.messages[found.key()].sent_at;
      print_row(found.mapped(), steps, ns, to);
      ++rows;
    }
  });
  return rows;
}

} // namespace perigee::app::trace
