/// \file
/// Who surrounds a prefill group and a decode instance in tests.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/desk.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace perigee::test {

using ns = std::chrono::nanoseconds;
using tokens = std::vector<std::uint32_t>;

/// What came of a request, as its gateway heard it.
struct answer {
  tokens said;
  schema::End end = schema::End::NONE;
  std::uint32_t stop_token = 0;
  std::uint32_t cached = 0;
  std::size_t ends = 0;
  std::size_t after_end = 0; ///< Runs that came when nothing should follow.
  std::map<std::string, ns> stages;
  ns asked_at{};
  ns first_at{};
  ns end_at{};
  std::vector<float> scores; ///< Of the prompt.
  std::size_t cancelled = 0;
};
using answers = std::map<std::uint64_t, answer>;

inline std::map<std::string, ns> stages_of(schema::Stages::Reader from) {
  auto span = [](std::uint64_t count) { return ns{count}; };
  return {{"queue", span(from.getQueueNs())},
          {"fetch", span(from.getFetchNs())},
          {"prefill", span(from.getPrefillNs())},
          {"handoff", span(from.getHandoffNs())},
          {"transfer", span(from.getTransferNs())},
          {"decode_queue", span(from.getDecodeQueueNs())},
          {"decode", span(from.getDecodeNs())}};
}

/// A gateway that writes down what it hears.
class hearing_gateway {
public:
  using handle = gateway_actor;
  static constexpr const char* name = "hearing_gateway";

  hearing_gateway(handle::pointer self, const rt::world& in, answers* heard)
    : desk_(self, in, name), heard_(*heard) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &hearing_gateway::ignore<schema::Submit>),
            desk_.on(this, &hearing_gateway::ignore<schema::Withdraw>),
            desk_.on(this, &hearing_gateway::ignore<schema::Placed>),
            desk_.on(this, &hearing_gateway::on_scores),
            desk_.on(this, &hearing_gateway::on_tokens),
            desk_.on(this, &hearing_gateway::on_cancelled),
            desk_.on(this, &hearing_gateway::ignore<schema::Member>),
            desk_.on(this, &hearing_gateway::ignore<schema::Drain>),
            desk_.on(this, &hearing_gateway::ignore<schema::Due>)};
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  void on_scores(const Msg<schema::PromptScores>& news) {
    for (auto one : news->getScores())
      heard_[news->getRequest()].scores.push_back(one.getLogprob());
  }

  void on_tokens(const Msg<schema::Tokens>& news) {
    for (auto run : news->getRuns())
      take(heard_[run.getRequest()], run);
  }

  void take(answer& to, schema::Tokens::Run::Reader run) {
    if (to.ends > 0)
      return void(++to.after_end);
    if (to.said.empty())
      to.first_at = desk_.now();
    for (auto one : run.getTokens())
      to.said.push_back(one.getToken());
    if (run.hasStages())
      to.stages = stages_of(run.getStages());
    if (run.getEnd() == schema::End::NONE)
      return;
    ++to.ends;
    to.end = run.getEnd();
    to.end_at = desk_.now();
    to.stop_token = run.getStopToken();
    to.cached = run.getCachedTokens();
  }

  void on_cancelled(const Msg<schema::Cancelled>& news) {
    ++heard_[news->getRequest()].cancelled;
  }

  rt::desk<handle> desk_;
  answers& heard_;
};

/// A conductor that writes down what is reported to it.
class hearing_conductor {
public:
  using handle = conductor_actor;
  static constexpr const char* name = "hearing_conductor";

  struct reports {
    std::vector<ns> prefill_at;
    std::vector<ns> decode_at;
    std::vector<std::uint64_t> prefill_ended;
    std::vector<std::uint64_t> decode_began;
    std::vector<std::uint64_t> decode_ended;
    Msg<schema::PrefillLoad> prefill;
    Msg<schema::DecodeLoad> decode;
  };

  hearing_conductor(handle::pointer self, const rt::world& in, reports* heard)
    : desk_(self, in, name), heard_(*heard) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &hearing_conductor::ignore<schema::Place>),
            desk_.on(this, &hearing_conductor::ignore<schema::Cancel>),
            desk_.on(this, &hearing_conductor::on_prefill),
            desk_.on(this, &hearing_conductor::on_decode),
            desk_.on(this, &hearing_conductor::ignore<schema::Stored>),
            desk_.on(this, &hearing_conductor::ignore<schema::Evicted>),
            desk_.on(this, &hearing_conductor::ignore<schema::Snapshot>),
            desk_.on(this, &hearing_conductor::ignore<schema::Member>),
            desk_.on(this, &hearing_conductor::ignore<schema::Apart>),
            desk_.on(this, &hearing_conductor::ignore<schema::Due>),
            desk_.on(this, &hearing_conductor::ignore<schema::Tick>)};
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  void on_prefill(const Msg<schema::PrefillLoad>& news) {
    heard_.prefill_at.push_back(desk_.now());
    heard_.prefill = news;
    for (auto request : news->getEnded())
      heard_.prefill_ended.push_back(request);
  }

  void on_decode(const Msg<schema::DecodeLoad>& news) {
    heard_.decode_at.push_back(desk_.now());
    heard_.decode = news;
    for (auto request : news->getBegan())
      heard_.decode_began.push_back(request);
    for (auto one : news->getEnded())
      heard_.decode_ended.push_back(one.getRequest());
  }

  rt::desk<handle> desk_;
  reports& heard_;
};

/// Takes whatever it is asked, and answers nothing.
class silent_shard {
public:
  using handle = shard_actor;
  static constexpr const char* name = "silent_shard";

  silent_shard(handle::pointer self, const rt::world& in) : desk_(self, in, name) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &silent_shard::ignore<schema::Pin>),
            desk_.on(this, &silent_shard::ignore<schema::Unpin>),
            desk_.on(this, &silent_shard::ignore<schema::Reserve>),
            desk_.on(this, &silent_shard::ignore<schema::Seal>),
            desk_.on(this, &silent_shard::ignore<schema::Release>),
            desk_.on(this, &silent_shard::ignore<schema::Withhold>),
            desk_.on(this, &silent_shard::ignore<schema::Recount>),
            desk_.on(this, &silent_shard::ignore<schema::Quiesced>),
            desk_.on(this, &silent_shard::ignore<schema::Member>),
            desk_.on(this, &silent_shard::ignore<schema::Due>),
            desk_.on(this, &silent_shard::ignore<schema::Tick>)};
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  rt::desk<handle> desk_;
};

} // namespace perigee::test
