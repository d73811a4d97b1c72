/// \file
/// trace_clients: all who sent the requests of a trace, and what they were answered.
#pragma once

#include "actors/gateway/gateway.hpp"
#include "actors/runtime/doorway.hpp"
#include "apps/perigee/replay/longest_tenth.hpp"
#include "apps/perigee/replay/outcome.hpp"
#include "apps/perigee/replay/session_turns.hpp"
#include "apps/perigee/replay/spread.hpp"
#include "workload/request.hpp"

#include <map>
#include <span>
#include <vector>

namespace perigee::app {

/// The key of a block that a trace calls `id`.
block_key key_of(std::uint64_t id);

/// The blocks of `one` that are whole: those that may be matched.
std::span<const std::uint64_t> whole_blocks_of(const workload::request& one,
                                               std::size_t block_tokens);

/// Takes the place of the HTTP server in virtual time. Not for several threads.
class trace_clients final : public gateway::patron {
public:
  /// `block_tokens` of the cluster; ids of a trace's blocks are keys of such blocks.
  /// `vocabulary` bounds the token ids, which mean nothing.
  trace_clients(std::uint32_t block_tokens, std::uint32_t vocabulary)
    : block_tokens_(block_tokens), vocabulary_(vocabulary) {}

  /// Sends `one` through `door`, which stays: at `now`, which is its arrival, or later if
  /// it is a turn that waits for an answer, or never if there was none. Without a gateway
  /// it has failed. One whose gateway is lost is sent to its successor if its answer had
  /// not begun, and has failed if it had: as HTTP clients see it.
  void send(rt::doorway& door, workload::request one, std::chrono::nanoseconds now);

  /// Whether any turn waits, and when one is to be sent by send_next(), as far as is
  /// known by now.
  bool waits() const {
    return turns_.waits();
  }
  std::optional<std::chrono::nanoseconds> next_due() const {
    return turns_.next_due();
  }
  void send_next(rt::doorway& door, std::chrono::nanoseconds now);

  std::size_t open() const {
    return open_.size();
  }

  /// Between any two tokens of a request, whatever became of it.
  const span_histogram& gaps() const {
    return gaps_;
  }

  /// In the order in which they were sent, or were found not to be; moments count from
  /// `began`. After it, there are none: it is the end.
  std::vector<outcome> take_outcomes(std::chrono::nanoseconds began);

  // -- as a patron ------------------------------------------------------------

  void opened(const gateway_actor& gateway) override;
  void hear(std::vector<gateway::stream_news> news) override;
  void hear(gateway::prompt_scores) override {}

private:
  struct open_stream {
    std::size_t at = 0; ///< In `outcomes_`.
    longest_tenth gaps;
    std::chrono::nanoseconds last{};
    std::optional<std::uint64_t> session;
    workload::request wish; ///< Empty once its answer has begun.
  };

  void begin(rt::doorway& door, const workload::request& one,
             std::chrono::nanoseconds now);
  void leave_out(const workload::request& one, std::chrono::nanoseconds now);
  void begin_again();
  void submit(rt::doorway& door, const workload::request& one, std::uint64_t stream);
  void take_tokens(open_stream& of, const gateway::stream_news& news);
  void end(std::uint64_t stream, outcome::ending how,
           std::optional<gateway::api_code> why, std::chrono::nanoseconds at);

  std::uint32_t block_tokens_;
  std::uint32_t vocabulary_;
  rt::doorway* door_ = nullptr; ///< Where the last one was sent.
  gateway_actor gateway_;
  std::map<std::uint64_t, open_stream> open_;
  std::vector<outcome> outcomes_;
  session_turns turns_;
  span_histogram gaps_;
};

} // namespace perigee::app
