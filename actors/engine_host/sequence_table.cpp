#include "actors/engine_host/sequence_table.hpp"

#include "actors/engine_host/engine_words.hpp"
#include "schemas/vocabulary.hpp"

#include <algorithm>
#include <set>

namespace perigee::engine_host {
namespace {

template <class List>
bool all_below(const List& list, std::uint32_t limit) {
  for (auto one : list)
    if (one >= limit)
      return false;
  return true;
}

template <class List>
std::vector<engine::token_id> to_tokens(const List& list) {
  std::vector<engine::token_id> tokens;
  tokens.reserve(list.size());
  for (auto token : list)
    tokens.push_back(token);
  return tokens;
}

engine::sampler sampler_of(const sequence& one) {
  engine::sampler pick{one.how};
  for (auto token : one.seen)
    pick.saw_prompt(token);
  for (auto token : one.answered)
    pick.saw_answer(token);
  return pick;
}

sequence begin_sequence(schema::Forward::Begin::Reader from) {
  auto how = to_sampling(from.getSampling());
  sequence one{how,
               to_tokens(from.getSeen()),
               to_tokens(from.getAnswered()),
               engine::sampler{how},
               {},
               {}};
  one.pick = sampler_of(one);
  return one;
}

/// Of the result that `wish` asks for, without what its draws add.
std::size_t scored_bytes(schema::Forward::Reader wish) {
  std::size_t bytes = 0;
  for (auto work : wish.getWork())
    if (work.getScores() >= 0)
      bytes += work.getTokens().size() * drawn_bytes(work.getScores());
  return bytes;
}

} // namespace

bool sequence::is_stop(engine::token_id token) const {
  return std::find(how.stop_token_ids.begin(), how.stop_token_ids.end(), token)
         != how.stop_token_ids.end();
}

void sequence::undo(std::size_t draws) {
  answered.resize(answered.size() - draws);
  pick = sampler_of(*this);
}

run_limits limits_of(const engine::engine& runs, std::size_t sequences_max) {
  auto arena = runs.arena();
  return {runs.model(), arena.layout.block_tokens, arena.blocks,
          runs.batch_tokens_max(), sequences_max};
}

std::uint32_t last_position(schema::Forward::Work::Reader work,
                            std::uint32_t steps_max) {
  auto steps = std::min(work.getSteps(), steps_max);
  return work.getFirstPosition() + work.getTokens().size() - 1
         + (steps > 0 ? steps - 1 : 0);
}

std::optional<std::string>
sequence_table::find_fault(schema::Forward::Reader wish) const {
  if (wish.getStepsMax() == 0)
    return "no step";
  if (auto fault = fault_in_sequences(wish))
    return fault;
  return fault_in_batch(wish);
}

sequence_table::complaint
sequence_table::fault_in_sequences(schema::Forward::Reader wish) const {
  std::set<std::uint64_t> ended, begun;
  for (auto number : wish.getEnds())
    if (!all_.contains(number) || !ended.insert(number).second)
      return "ends a sequence that is not here";
  for (auto begin : wish.getBegins()) {
    auto number = begin.getSequence();
    if ((all_.contains(number) && !ended.contains(number))
        || !begun.insert(number).second)
      return "begins a sequence that is here";
    if (auto fault = fault_in_begin(begin))
      return fault;
  }
  if (all_.size() - ended.size() + begun.size() > limits_.sequences_max)
    return "more sequences than " + std::to_string(limits_.sequences_max);
  return {};
}

sequence_table::complaint
sequence_table::fault_in_begin(schema::Forward::Begin::Reader begin) const {
  auto vocabulary = limits_.model.vocabulary;
  if (auto fault
      = engine::find_param_fault(to_sampling(begin.getSampling()), vocabulary))
    return "sampling: " + fault->parameter + " must be " + fault->expected;
  if (!all_below(begin.getSeen(), vocabulary)
      || !all_below(begin.getAnswered(), vocabulary))
    return "a token outside the vocabulary";
  return {};
}

sequence_table::complaint
sequence_table::fault_in_batch(schema::Forward::Reader wish) const {
  std::set<std::uint64_t> ended, begun, working;
  for (auto number : wish.getEnds())
    ended.insert(number);
  for (auto begin : wish.getBegins())
    begun.insert(begin.getSequence());
  std::size_t tokens = 0;
  for (auto work : wish.getWork()) {
    auto number = work.getSequence();
    auto known = all_.find(number);
    bool is_new = begun.contains(number);
    if (!is_new && (known == all_.end() || ended.contains(number)))
      return "work for a sequence that is not here";
    if (!working.insert(number).second)
      return "work for a sequence twice";
    auto last = last_position(work, wish.getStepsMax());
    if (auto fault = fault_in_work(work, is_new ? nullptr : &known->second, last))
      return fault;
    tokens += work.getTokens().size();
  }
  if (tokens > limits_.batch_tokens_max)
    return "more tokens than " + std::to_string(limits_.batch_tokens_max);
  if (scored_bytes(wish) > message_bytes_max / 2)
    return "more scores than a message holds";
  return {};
}

/// `known` is null for a sequence that begins.
sequence_table::complaint
sequence_table::fault_in_work(schema::Forward::Work::Reader work, const sequence* known,
                              std::uint32_t last) const {
  auto first = work.getFirstPosition();
  if (work.getTokens().size() == 0)
    return "work without a token";
  if (!all_below(work.getTokens(), limits_.model.vocabulary))
    return "a token outside the vocabulary";
  if (last >= limits_.model.context_tokens_max)
    return "a position outside the context";
  if (work.getFirstBlock() > (known ? known->blocks.size() : 0))
    return "a block table with a hole";
  if (!all_below(work.getBlocks(), limits_.arena_blocks))
    return "a block outside the arena";
  auto table = known ? known->blocks.size() : 0;
  if (work.getBlocks().size() > 0)
    table = std::size_t{work.getFirstBlock()} + work.getBlocks().size();
  if (table < last / limits_.block_tokens + 1)
    return "a block table that is too short";
  if (work.getScores() >= 0 && first > 0 && (!known || known->last_row.empty()))
    return "scores without the logits before them";
  return {};
}

void sequence_table::apply(schema::Forward::Reader wish) {
  for (auto number : wish.getEnds())
    all_.erase(number);
  for (auto begin : wish.getBegins())
    all_.emplace(begin.getSequence(), begin_sequence(begin));
  for (auto work : wish.getWork()) {
    auto& blocks = all_.at(work.getSequence()).blocks;
    if (work.getBlocks().size() == 0)
      continue;
    blocks.resize(work.getFirstBlock());
    for (auto block : work.getBlocks())
      blocks.push_back(block);
  }
}

} // namespace perigee::engine_host
