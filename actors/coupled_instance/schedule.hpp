/// \file
/// schedule: which tokens the next batch of a coupled instance feeds: the policies that
/// decide it, each by its name.
#pragma once

#include "actors/coupled_instance/request_line.hpp"

#include <span>
#include <string_view>

namespace perigee::coupled {

/// So many of a request's next tokens.
struct share {
  std::uint64_t request = 0;
  std::uint32_t tokens = 0;

  bool operator==(const share&) const = default;
};

/// One batch. Every request in it has blocks for its part.
struct iteration {
  std::vector<share> work;

  /// 1; more if all in it decode: a run of so many steps, for which all have blocks.
  std::uint32_t steps = 1;

  /// Had to make room, and wait again; the youngest first.
  std::vector<std::uint64_t> preempted;

  /// Whom the whole arena does not hold any more: it is to be ended.
  std::optional<std::uint64_t> hopeless;
};

/// The next batch of all in `line`, who begin and make room as it says. Empty if nobody
/// can be served.
using scheduler = iteration (*)(request_line& line);

/// `prefill_first`: whole prompts before anything else, as vLLM's scheduler up to V0
/// does by default. Rules (vLLM v0.5.1, `_schedule_default`; "Performance and Tuning"
/// of its documentation: "By default, vLLM scheduler prioritizes prefills and doesn't
/// batch prefill and decode to the same batch"):
///
/// - waiting prompts are taken first come, first served, each whole, while their tokens
///   fit the budget and no more than `sequences_max` are served; the first that finds
///   no place holds up those behind it;
/// - blocks for all of a prompt are taken at once, and must leave the watermark (1 %)
///   available;
/// - only if no prompt can be taken, all who have begun decode, one token each;
/// - if one of them finds no block, the youngest goes, to be computed again with what
///   it answered (preemption by recomputation), at the front of those who wait;
/// - with a prefix cache, full blocks are shared from when they were computed.
///
/// Better than its model: tokens found in the cache don't count against the budget, nor
/// their blocks against what is free. A prompt that is longer than the budget is
/// computed in several batches, in which nobody else has a part.
///
/// Left out: swapping to the host's memory, which v0.5.1 does for beam search alone;
/// several sequences of one request, LoRA, delays, priorities, look-ahead slots.
iteration schedule_prefill_first(request_line& line);

/// `chunked`: who decodes goes first, prompts fill what is left of the token budget.
/// Rules (vLLM V1, `Scheduler.schedule`, which are those of v0.5.1 with chunked
/// prefill: "prioritize decode requests. It batches all pending decode requests to the
/// batch before scheduling any prefill. When there are available token_budget, it
/// schedules pending prefills. If a last pending prefill request cannot fit, it chunks
/// it"):
///
/// - those who are served, in the order they came: one token each of who decodes, and
///   as many of a prompt that has begun as are left of the budget;
/// - then those who wait, first come, first served, until the budget is spent or
///   `sequences_max` are served; the last one's prompt is cut;
/// - blocks are taken for what is computed now, not for the whole prompt, and there is
///   no watermark;
/// - if somebody finds no block, the youngest goes, as above; nobody begins in a batch
///   for which somebody had to go;
/// - the prefix cache as above.
///
/// The budget is v0.5.1's 512 by default, and V1's 2,048.
///
/// Left out: speculative tokens, encoder inputs, limits on concurrent partial prefills
/// (V1's default has none), priorities, LoRA, and what overlaps scheduling with the
/// engine's work.
iteration schedule_chunked(request_line& line);

/// For settings and their error texts.
std::span<const std::string_view> scheduler_names();

/// Null if there is no such name.
scheduler find_scheduler(std::string_view name);

} // namespace perigee::coupled
