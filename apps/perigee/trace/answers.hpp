/// \file
/// answers: what messages say of requests, noted while they are read.
#pragma once

#include "apps/perigee/trace/history.hpp"
#include "schemas/forward.capnp.h"
#include "schemas/movement.capnp.h"
#include "schemas/request.capnp.h"

#include <map>
#include <optional>
#include <utility>

namespace perigee::app::trace {

/// Notes what each message says of requests, and in the end tells what became of them,
/// and which message was about which.
class answers {
public:
  explicit answers(history& all) : all_(all) {}

  /// Of the message at `place`, all of whose fields are set. `words` were judged.
  void note(std::uint32_t place, std::uint64_t type, words_view words);

  /// Once all is read: fills in the requests, what messages are about, and `shared`.
  void conclude();

private:
  /// A part of an answer, or a refusal. There may be millions.
  struct piece {
    std::uint64_t attempt = 0;
    std::uint32_t in = 0; ///< The message.
    std::uint32_t tokens = 0;
    std::uint32_t remark = 0; ///< Its place among the remarks.
  };

  /// What only the first and the last piece say.
  struct remark {
    std::string end = {}; ///< Empty: more is to come.
    std::uint32_t cached = 0;
    std::optional<gateway::timings> times = {};
  };

  using stream_key = std::pair<std::uint32_t, std::uint64_t>; // sender, stream

  void note_named(std::uint32_t place, words_view words);
  void note_wish(std::uint32_t place, schema::Wish::Reader said);
  void note_withdraw(std::uint32_t place, schema::Withdraw::Reader said);
  void note_forward(std::uint32_t place, schema::Forward::Reader said);
  void note_push(std::uint32_t place, schema::Push::Reader said);
  void note_submit(std::uint32_t place, schema::Submit::Reader said);
  void note_tokens(std::uint32_t place, schema::Tokens::Reader said);
  void note_placed(std::uint32_t place, schema::Placed::Reader said);

  std::uint32_t add_remark(remark one);
  std::int32_t add_request(request one);
  std::int32_t request_of(std::uint64_t attempt, std::uint32_t place);
  void join_attempts();
  void spread();
  void share_runs();
  void share_gates();
  void tell_outcomes();
  void tell_outcome(std::int32_t whose, const piece& said);
  void order();

  history& all_;
  std::map<stream_key, std::int32_t> by_stream_;
  std::map<std::uint64_t, std::int32_t> by_attempt_;
  std::vector<gateway::timings> before_; ///< By request: what was over at its arrival.
  std::vector<std::int64_t> first_try_, last_try_;             ///< By request.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> named_; ///< (message, attempt)
  std::vector<std::uint32_t> arrivals_;                        ///< Messages.
  std::vector<std::pair<std::uint32_t, std::int32_t>> withdrawals_;
  std::vector<piece> pieces_;
  std::vector<remark> remarks_{{}}; ///< [0] says nothing.
  std::map<std::uint64_t, std::uint32_t> forward_by_gate_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> pushes_; ///< (message, gate)
};

} // namespace perigee::app::trace
