/// \file
/// Those whom a gateway talks to, as doubles, on one stage in the lab.
#pragma once

#include "actors/gateway/gateway.hpp"
#include "actors/gateway/words.hpp"
#include "schemas/convert.hpp"
#include "tests/actors/quiet_cluster.hpp"
#include "tests/lab/perigee_messages.hpp"

#include <map>
#include <set>

namespace perigee::gateway {

/// How the doubles behave, and what they heard.
struct script {
  // The rejector.
  std::optional<schema::Refusal::Reason> refuse = {};
  bool rejector_is_silent = false;

  // The conductor.
  bool conductor_is_silent = false; ///< About Place.
  std::uint32_t prefill = 0;        ///< Indices of whom it chooses.
  std::uint32_t decode = 0;

  // The decode instance: an answer's tokens; each Due sends one more.
  std::vector<engine::token_id> answer = {7, 8, 9};
  bool decode_is_silent = false;
  schema::End end = schema::End::STOP;
  bool ends_without_token = false;
  bool says_cancelled = true; ///< All of them.

  std::vector<std::uint64_t> arrived; ///< Requests, as numbered.
  std::map<std::uint64_t, std::vector<engine::token_id>> prompts;
  std::size_t prompt_parts = 0;
  double temperature = 0;
  std::uint32_t tokens_max = 0;
  std::multiset<std::string> cancels; ///< Who was told, such as "prefill.0".
  bool drained = false;
};

using script_ptr = std::shared_ptr<script>;

template <class Desk>
void say_cancelled(Desk& desk, const script& how, const Msg<schema::Cancel>& wish,
                   schema::Role who) {
  if (how.says_cancelled)
    desk.template tell<schema::Cancelled>(to_name<gateway_name>(wish->getGateway()),
                                          wish, [&](schema::Cancelled::Builder said) {
                                            said.setRequest(wish->getRequest());
                                            said.setBy(who);
                                          });
}

class rejector_double {
public:
  using handle = rejector_actor;
  static constexpr const char* name = "rejector";

  rejector_double(handle::pointer self, const rt::world& in, script_ptr how)
    : desk_(self, in, name), how_(std::move(how)) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &rejector_double::on_arrive),
            desk_.on(this, &rejector_double::on_cancel),
            desk_.on(this, &rejector_double::ignore<schema::Book>),
            desk_.on(this, &rejector_double::ignore<schema::Member>),
            desk_.on(this, &rejector_double::ignore<schema::Due>)};
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  void on_arrive(const Msg<schema::Arrive>& asked) {
    auto wish = asked->getWish();
    how_->arrived.push_back(wish.getRequest());
    how_->tokens_max = wish.getTokensMax();
    if (how_->rejector_is_silent)
      return;
    if (!how_->refuse) {
      desk_.tell<schema::Place>(conductor_name{}, asked,
                                [&](auto pass) { pass.setWish(wish); });
      return;
    }
    desk_.tell<schema::Placed>(to_name<gateway_name>(wish.getGateway()), asked,
                               [&](schema::Placed::Builder said) {
                                 said.setRequest(wish.getRequest());
                                 auto why = said.initRefused();
                                 why.setWhy(*how_->refuse);
                                 why.setRetryAfterNs(2'500'000'000);
                               });
  }

  void on_cancel(const Msg<schema::Cancel>& wish) {
    how_->cancels.insert("rejector");
    desk_.tell<schema::Cancel>(conductor_name{}, wish,
                               [&](schema::Cancel::Builder pass) {
                                 pass.setRequest(wish->getRequest());
                                 pass.setGateway(wish->getGateway());
                               });
  }

  rt::desk<handle> desk_;
  script_ptr how_;
};

class conductor_double {
public:
  using handle = conductor_actor;
  static constexpr const char* name = "conductor";

  conductor_double(handle::pointer self, const rt::world& in, script_ptr how)
    : desk_(self, in, name), how_(std::move(how)) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &conductor_double::on_place),
            desk_.on(this, &conductor_double::on_cancel),
            desk_.on(this, &conductor_double::ignore<schema::PrefillLoad>),
            desk_.on(this, &conductor_double::ignore<schema::DecodeLoad>),
            desk_.on(this, &conductor_double::ignore<schema::Stored>),
            desk_.on(this, &conductor_double::ignore<schema::Evicted>),
            desk_.on(this, &conductor_double::ignore<schema::Snapshot>),
            desk_.on(this, &conductor_double::ignore<schema::Member>),
            desk_.on(this, &conductor_double::ignore<schema::Apart>),
            desk_.on(this, &conductor_double::ignore<schema::Due>),
            desk_.on(this, &conductor_double::ignore<schema::Tick>)};
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  void on_place(const Msg<schema::Place>& asked) {
    if (how_->conductor_is_silent)
      return;
    auto wish = asked->getWish();
    desk_.tell<schema::Placed>(
      to_name<gateway_name>(wish.getGateway()), asked,
      [&](schema::Placed::Builder said) {
        said.setRequest(wish.getRequest());
        auto plan = said.initPlaced();
        set_name(plan.initPrefill(), prefill_name{{}, how_->prefill});
        set_name(plan.initDecode(), decode_name{{}, how_->decode});
      });
  }

  void on_cancel(const Msg<schema::Cancel>& wish) {
    how_->cancels.insert("conductor");
    say_cancelled(desk_, *how_, wish, schema::Role::CONDUCTOR);
  }

  rt::desk<handle> desk_;
  script_ptr how_;
};

class prefill_double {
public:
  using handle = prefill_actor;
  static constexpr const char* name = "prefill";

  prefill_double(handle::pointer self, const rt::world& in, script_ptr how)
    : desk_(self, in, name), how_(std::move(how)) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &prefill_double::ignore<schema::Prefill>),
            desk_.on(this, &prefill_double::on_prompt),
            desk_.on(this, &prefill_double::on_cancel),
            desk_.on(this, &prefill_double::ignore<schema::Roomed>),
            desk_.on(this, &prefill_double::ignore<schema::HandedOff>),
            desk_.on(this, &prefill_double::ignore<schema::Pinned>),
            desk_.on(this, &prefill_double::ignore<schema::Reserved>),
            desk_.on(this, &prefill_double::ignore<schema::Moved>),
            desk_.on(this, &prefill_double::ignore<schema::Forwarded>),
            desk_.on(this, &prefill_double::ignore<schema::Member>),
            desk_.on(this, &prefill_double::ignore<schema::Due>),
            desk_.on(this, &prefill_double::ignore<schema::Tick>)};
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  void on_prompt(const Msg<schema::Prompt>& part) {
    auto& all = how_->prompts[part->getRequest()];
    ++how_->prompt_parts;
    for (auto token : part->getTokens())
      all.push_back(token);
    if (!part->getLast())
      return;
    how_->temperature = part->getSampling().getTemperature();
    tell_scores(part);
    desk_.tell<schema::Handoff>(decode_name{{}, how_->decode}, part,
                                [&](schema::Handoff::Builder over) {
                                  over.setRequest(part->getRequest());
                                  set_name(over.initGateway(), gateway_name{});
                                });
  }

  void tell_scores(const Msg<schema::Prompt>& part) {
    if (part->getPromptLogprobs() < 0)
      return;
    desk_.tell<schema::PromptScores>(
      gateway_name{}, part, [&](schema::PromptScores::Builder said) {
        said.setRequest(part->getRequest());
        said.setFirstToken(1);
        said.initScores(1)[0].setToken(how_->prompts[part->getRequest()].at(1));
      });
  }

  void on_cancel(const Msg<schema::Cancel>& wish) {
    how_->cancels.insert("prefill." + std::to_string(desk_.me().index));
    say_cancelled(desk_, *how_, wish, schema::Role::PREFILL);
  }

  rt::desk<handle> desk_;
  script_ptr how_;
};

class decode_double {
public:
  using handle = decode_actor;
  static constexpr const char* name = "decode";

  decode_double(handle::pointer self, const rt::world& in, script_ptr how)
    : desk_(self, in, name), how_(std::move(how)) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &decode_double::ignore<schema::Expect>),
            desk_.on(this, &decode_double::ignore<schema::Room>),
            desk_.on(this, &decode_double::on_handoff),
            desk_.on(this, &decode_double::ignore<schema::Landed>),
            desk_.on(this, &decode_double::on_cancel),
            desk_.on(this, &decode_double::ignore<schema::Reserved>),
            desk_.on(this, &decode_double::ignore<schema::Moved>),
            desk_.on(this, &decode_double::ignore<schema::Quiesced>),
            desk_.on(this, &decode_double::ignore<schema::Forwarded>),
            desk_.on(this, &decode_double::ignore<schema::Member>),
            desk_.on(this, &decode_double::on_due),
            desk_.on(this, &decode_double::ignore<schema::Tick>)};
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  void on_handoff(const Msg<schema::Handoff>& over) {
    request_ = over->getRequest();
    why_ = over;
    said_ = 0;
    if (!how_->decode_is_silent)
      say_next();
  }

  void on_due(const Msg<schema::Due>&) {
    say_next();
  }

  void say_next() {
    if (request_ == 0)
      return;
    desk_.tell<schema::Tokens>(gateway_name{}, why_, [&](schema::Tokens::Builder said) {
      auto run = said.initRuns(1)[0];
      run.setRequest(request_);
      run.setCachedTokens(16);
      auto stages = run.initStages();
      stages.setPrefillNs(1'000'000);
      stages.setPlacementNs(5);
      if (!how_->ends_without_token)
        run.initTokens(1)[0].setToken(how_->answer.at(said_++));
      if (how_->ends_without_token || said_ == how_->answer.size()) {
        run.setEnd(how_->end);
        request_ = 0;
      }
    });
  }

  void on_cancel(const Msg<schema::Cancel>& wish) {
    how_->cancels.insert("decode." + std::to_string(desk_.me().index));
    if (wish->getRequest() == request_)
      request_ = 0;
    say_cancelled(desk_, *how_, wish, schema::Role::DECODE);
  }

  rt::desk<handle> desk_;
  script_ptr how_;
  rt::cause why_;
  std::uint64_t request_ = 0;
  std::size_t said_ = 0;
};

class cluster_double final : public test::quiet_cluster {
public:
  static constexpr const char* name = "cluster";

  cluster_double(handle::pointer self, const rt::world& in, script_ptr how)
    : quiet_cluster(self, in, name), how_(std::move(how)) {}

private:
  void on_drained(const Msg<schema::Drained>&) override {
    how_->drained = true;
  }

  script_ptr how_;
};

/// Hears what a gateway says of its streams.
struct listening_patron : patron {
  void opened(const gateway_actor&) override {
    ++openings;
  }
  void hear(std::vector<stream_news> all) override {
    for (auto& news : all) {
      auto& so_far = streams[news.stream];
      for (const auto& token : news.tokens)
        so_far.tokens.push_back(token.token);
      so_far.last = std::move(news);
    }
  }
  void hear(prompt_scores said) override {
    scores.push_back(std::move(said));
  }

  struct heard {
    std::vector<engine::token_id> tokens;
    stream_news last;
  };

  /// The code of the error that `stream` ended with; "" if it ended otherwise or not.
  std::string error_of(std::uint64_t stream) {
    auto& last = streams[stream].last;
    return last.why ? std::string{info_of(last.why->code).text} : std::string{};
  }

  int openings = 0;
  std::map<std::uint64_t, heard> streams;
  std::vector<prompt_scores> scores;
};

} // namespace perigee::gateway
