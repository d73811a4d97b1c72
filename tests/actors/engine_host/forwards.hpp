/// \file
/// What one says to an engine host in tests, and who hears of it.
#pragma once

#include "actors/asker.hpp"
#include "actors/runtime/desk.hpp"
#include "engine/modelled/modelled_engine.hpp"

#include <functional>
#include <map>
#include <vector>

namespace perigee::engine_host {

using tokens = std::vector<std::uint32_t>;

/// A part of a Forward.
struct work {
  std::uint64_t sequence = 1;
  std::uint32_t first_position = 0;
  tokens fed = {};
  tokens blocks = {};
  std::uint32_t first_block = 0;
  std::uint32_t steps = 0;
  std::int16_t scores = -1;
  std::uint64_t await_gate = 0;
  std::uint64_t open_gate = 0;
};

/// Of decode instance 0.
struct forward {
  std::uint64_t ticket = 1;
  std::uint32_t steps_max = 1;
  std::vector<std::uint64_t> ends = {};
  std::vector<std::uint64_t> begins = {};
  std::vector<work> parts = {};
  double temperature = 0;
  std::uint32_t modelled_tokens = 0;
  std::uint32_t seen = 0; ///< A token of the prompt; 0: none.

  void operator()(schema::Forward::Builder to) const {
    set_asker(to.initOwner(), decode_name{});
    to.setTicket(ticket);
    to.setStepsMax(steps_max);
    to.setEnds({ends.data(), ends.size()});
    auto begun = to.initBegins(static_cast<unsigned>(begins.size()));
    for (unsigned i = 0; i < begun.size(); ++i) {
      begun[i].setSequence(begins[i]);
      auto how = begun[i].initSampling();
      how.setTemperature(temperature);
      how.setModelledTokens(modelled_tokens);
      how.setStopTokens({engine::modelled_end});
      if (seen > 0)
        begun[i].setSeen({seen});
    }
    auto all = to.initWork(static_cast<unsigned>(parts.size()));
    for (unsigned i = 0; i < all.size(); ++i)
      write(all[i], parts[i]);
  }

  Msg<schema::Forward> message() const {
    return Msg<schema::Forward>::build(*this);
  }

private:
  static void write(schema::Forward::Work::Builder to, const work& from) {
    to.setSequence(from.sequence);
    to.setFirstPosition(from.first_position);
    to.setTokens({from.fed.data(), from.fed.size()});
    to.setFirstBlock(from.first_block);
    to.setBlocks({from.blocks.data(), from.blocks.size()});
    to.setSteps(from.steps);
    to.setScores(from.scores);
    to.setAwaitGate(from.await_gate);
    to.setOpenGate(from.open_gate);
  }
};

/// What was drawn for `sequence`, over all steps.
inline tokens drawn_for(schema::RunResult::Reader result, std::uint64_t sequence = 1) {
  tokens all;
  for (auto step : result.getSteps())
    for (auto one : step.getDrawn())
      if (one.getSequence() == sequence)
        all.push_back(one.getDrawn().getToken());
  return all;
}

/// An owner that hands on what it hears.
class hearing_owner {
public:
  using handle = decode_actor;
  static constexpr const char* name = "hearing_owner";
  using hear
    = std::function<void(const Msg<schema::Forwarded>&, std::chrono::nanoseconds)>;

  hearing_owner(handle::pointer self, const rt::world& in, hear told)
    : desk_(self, in, name), told_(std::move(told)) {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &hearing_owner::ignore<schema::Expect>),
            desk_.on(this, &hearing_owner::ignore<schema::Room>),
            desk_.on(this, &hearing_owner::ignore<schema::Handoff>),
            desk_.on(this, &hearing_owner::ignore<schema::Landed>),
            desk_.on(this, &hearing_owner::ignore<schema::Cancel>),
            desk_.on(this, &hearing_owner::ignore<schema::Reserved>),
            desk_.on(this, &hearing_owner::ignore<schema::Moved>),
            desk_.on(this, &hearing_owner::ignore<schema::Quiesced>),
            desk_.on(this, &hearing_owner::on_forwarded),
            desk_.on(this, &hearing_owner::ignore<schema::Member>),
            desk_.on(this, &hearing_owner::ignore<schema::Due>),
            desk_.on(this, &hearing_owner::ignore<schema::Tick>)};
  }

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  void on_forwarded(const Msg<schema::Forwarded>& said) {
    told_(said, desk_.now());
  }

  rt::desk<handle> desk_;
  hear told_;
};

/// Small, checked, with blocks of 4 tokens; a prefill of n tokens takes n ms, a step 1
/// ms.
inline engine::modelled_options small_model() {
  engine::modelled_options model;
  model.checked = true;
  model.vocabulary = 1000;
  model.context_tokens_max = 64;
  model.layout.block_tokens = 4;
  model.arena_blocks = 32;
  model.batch_tokens_max = 32;
  model.cost.prefill = {0, 1e-3, 0};
  model.cost.decode = {1e-3, 0, 0};
  return model;
}

/// What the model answers greedily.
inline tokens expected(const tokens& prompt, std::size_t count,
                       std::uint32_t modelled_tokens = 0) {
  engine::sampling_params how;
  how.temperature = 0;
  how.modelled_output_tokens = modelled_tokens;
  how.stop_token_ids = {engine::modelled_end};
  return engine::expected_tokens(small_model(), prompt, how, count);
}

} // namespace perigee::engine_host
