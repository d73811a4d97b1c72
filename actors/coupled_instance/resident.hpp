/// \file
/// resident: one request in a coupled instance.
#pragma once

#include "actors/coupled_instance/request_line.hpp"
#include "actors/prefill_group/prompt_join.hpp"
#include "schemas/convert.hpp"

#include <chrono>
#include <optional>

namespace perigee::coupled {

using moment = std::chrono::nanoseconds;

enum class stage : std::uint8_t {
  joining, ///< Its Prefill or a part of its Prompt is not here yet.
  lined,   ///< It waits, or is served, as its entry in the line says.
  ending,  ///< Its end is told; an engine may still be working on it.
};

struct resident {
  std::uint64_t request = 0;
  stage now = stage::joining;
  std::optional<Msg<schema::Prefill>> plan;
  prefill::prompt_join prompt;
  entry* place = nullptr; ///< In the line, once it was there.
  bool in_forward = false;

  moment arrived{};
  moment began{};           ///< To be computed, the first time.
  moment first_at{};        ///< When its first token was drawn.
  std::uint32_t scored = 0; ///< Tokens of its prompt whose scores were told.

  bool has_cancel = false; ///< A Cancelled is owed.
  bool was_reported = false;

  gateway_name gateway() const {
    return to_name<gateway_name>((*plan)->getGateway());
  }

  const Msg<schema::Prompt>& last_part() const {
    return prompt.last();
  }

  int logprobs_of_prompt() const {
    return last_part()->getPromptLogprobs();
  }

  std::uint32_t cached_tokens() const {
    return place ? place->cached : 0;
  }

  /// What has become of its time by `at`.
  void write_stages(schema::Stages::Builder to, moment at) const {
    auto ns = [](moment span) { return static_cast<std::uint64_t>(span.count()); };
    auto or_at = [=](moment when) { return when == moment{} ? at : when; };
    to.setQueueNs(ns(or_at(began) - arrived));
    to.setPrefillNs(ns(or_at(first_at) - or_at(began)));
    to.setDecodeNs(ns(at - or_at(first_at)));
  }
};

} // namespace perigee::coupled
