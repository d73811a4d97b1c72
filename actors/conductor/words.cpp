#include "actors/conductor/words.hpp"

#include "actors/span_of.hpp"
#include "schemas/vocabulary.hpp"

#include <algorithm>

namespace perigee::conductor {
namespace {

/// Requests of one instance that one book tells of, and instances.
constexpr std::size_t requests_told_max = 4096;
constexpr std::size_t instances_told_max = 8192;
constexpr std::size_t request_words_max = 200'000; // in all

constexpr std::size_t instance_words
  = 16; // with what its lists need beside their items
constexpr std::size_t request_words
  = 3; // two to say that it comes, one that it is there
static_assert(2 * instances_told_max * instance_words + request_words_max
                < message_words_max,
              "a book must fit into a message");

/// More sequences than an instance can decode at once.
constexpr std::size_t sequences_max = 65536;

std::uint64_t to_ns(nanoseconds span) {
  return static_cast<std::uint64_t>(std::max(span, nanoseconds{}).count());
}

template <class Id>
void set_id(schema::ActorName::Builder to, const Id& who) {
  to.setNode(static_cast<std::uint32_t>(who.node));
  to.setIndex(who.index);
}

template <class Id>
Id to_id(schema::ActorName::Reader from) {
  return {node_index{from.getNode()}, from.getIndex()};
}

unsigned shorter(std::size_t size, std::size_t most) {
  return static_cast<unsigned>(std::min(size, most));
}

void set_line(schema::Book::DecodeEntry::Builder to, const decode_line& line,
              std::size_t requests_max, moment now) {
  to.setUp(true);
  to.setSequences(static_cast<std::uint32_t>(line.began.size()));
  to.setKvTokens(line.kv_tokens);
  auto coming = to.initComing(shorter(line.coming.size(), requests_max));
  for (unsigned i = 0; i < coming.size(); ++i) {
    coming[i].setInNs(to_ns(line.coming[i].at - now));
    coming[i].setTokens(line.coming[i].tokens);
  }
  auto elapsed = to.initElapsed(shorter(line.began.size(), requests_max));
  for (unsigned i = 0; i < elapsed.size(); ++i)
    elapsed.set(i, to_ns(now - line.began[i]));
}

decode_line to_line(schema::Book::DecodeEntry::Reader from, moment now) {
  decode_line line;
  line.kv_tokens = from.getKvTokens();
  for (auto elapsed : from.getElapsed())
    line.began.push_back(now - span_of(elapsed));
  if (auto told = from.getSequences(); told > line.began.size())
    line.began.resize(std::min<std::size_t>(told, sequences_max), now);
  std::sort(line.began.begin(), line.began.end());
  for (auto one : from.getComing())
    line.coming.push_back({now + span_of(one.getInNs()), {}, one.getTokens()});
  std::sort(line.coming.begin(), line.coming.end());
  return line;
}

schema::Refusal::Reason to_schema(reason why) {
  switch (why) {
    case reason::prefill_load: return schema::Refusal::Reason::PREFILL_LOAD;
    case reason::decode_load: return schema::Refusal::Reason::DECODE_LOAD;
    case reason::queue_full: return schema::Refusal::Reason::QUEUE_FULL;
    case reason::no_instance: return schema::Refusal::Reason::NO_INSTANCE;
  }
  return schema::Refusal::Reason::UNKNOWN;
}

} // namespace

void set_book(schema::Book::Builder to, const loads& all, const decode_cost& cost,
              moment now) {
  to.setDecodeTimeNs(to_ns(all.decode_time));
  auto prefills = to.initPrefills(shorter(all.prefills.size(), instances_told_max));
  auto group = all.prefills.begin();
  for (auto entry : prefills) {
    set_id(entry.initWho(), group->first);
    entry.setUp(true);
    entry.setQueuedNs(to_ns(group->second.queued(now)));
    entry.setWaiting(group->second.waiting);
    ++group;
  }
  auto decodes = to.initDecodes(shorter(all.decodes.size(), instances_told_max));
  auto requests_max
    = std::min(requests_told_max, request_words_max / request_words
                                    / std::max<std::size_t>(decodes.size(), 1));
  auto instance = all.decodes.begin();
  for (auto entry : decodes) {
    set_id(entry.initWho(), instance->first);
    set_line(entry, instance->second, requests_max, now);
    auto here = batch_at(instance->second, now, now, all.decode_time);
    entry.setTbtNs(to_ns(cost.step_time(here.sequences, here.kv_tokens)));
    ++instance;
  }
}

loads to_loads(schema::Book::Reader from, moment now) {
  loads all;
  all.decode_time = span_of(from.getDecodeTimeNs());
  for (auto entry : from.getPrefills())
    if (entry.getUp())
      all.prefills[to_id<group_id>(entry.getWho())]
        = {now + span_of(entry.getQueuedNs()), entry.getWaiting()};
  for (auto entry : from.getDecodes())
    if (entry.getUp())
      all.decodes[to_id<instance_id>(entry.getWho())] = to_line(entry, now);
  return all;
}

void set_refusal(schema::Refusal::Builder to, const refusal& why) {
  to.setWhy(to_schema(why.why));
  to.setLoad(why.load);
  to.setRetryAfterNs(to_ns(why.retry_after));
}

std::vector<request_id> to_requests(capnp::List<std::uint64_t>::Reader from) {
  std::vector<request_id> all;
  all.reserve(from.size());
  for (auto one : from)
    all.push_back(request_id{one});
  return all;
}

std::vector<decode_report::end>
to_ends(capnp::List<schema::DecodeLoad::Ended>::Reader from) {
  std::vector<decode_report::end> all;
  all.reserve(from.size());
  for (auto one : from)
    all.push_back({request_id{one.getRequest()}, span_of(one.getDecodedNs())});
  return all;
}

block_chain to_keys(capnp::List<schema::BlockKey>::Reader from) {
  block_chain keys;
  keys.reserve(from.size());
  for (auto key : from)
    keys.push_back({key.getHigh(), key.getLow()});
  return keys;
}

tier to_tier(schema::Tier where) {
  switch (where) {
    case schema::Tier::DRAM: return tier::dram;
    case schema::Tier::SSD: return tier::ssd;
    case schema::Tier::VRAM: return tier::vram;
  }
  return tier::dram;
}

} // namespace perigee::conductor
