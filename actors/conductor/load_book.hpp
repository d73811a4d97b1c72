/// \file
/// The Conductor's book: what it has placed where, and what that makes of the loads.
#pragma once

#include "actors/conductor/loads.hpp"

#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace perigee::conductor {

/// A request as it is placed.
struct placement {
  request_id request{};
  group_id prefill;
  instance_id decode;
  bool decodes = true;        ///< False: one token is wanted, and the group sends it.
  nanoseconds prefill_time{}; ///< Predicted, of the computation alone.
  std::uint32_t uncached_tokens = 0;
  std::uint32_t prompt_tokens = 0;
  moment arrives_at{}; ///< At the decode instance, as predicted.
  moment expires_at{}; ///< After its client has given up.
};

/// What a prefill group says of itself.
struct prefill_report {
  std::uint32_t requests = 0; ///< That it knows of, waiting or running.
  std::uint64_t queued_tokens = 0;
  std::span<const request_id> ended;
};

/// What a decode instance says of itself.
struct decode_report {
  struct end {
    request_id request{};
    nanoseconds decoded{}; ///< Zero: it was never accepted.
  };

  std::uint32_t sequences = 0; ///< That it has accepted.
  std::uint64_t kv_tokens = 0;
  std::uint32_t blocks_free = 0;
  std::span<const request_id> began;
  std::span<const end> ended;
};

/// Counts a request at its group and its instance from its placement on, until a report
/// says otherwise or its time is over: so a report that is lost costs accuracy for a
/// while, never memory. Reports correct what was predicted.
///
/// Pure: it is told the time. One owner, not thread-safe.
/// Cost of a call: a few steps down maps, and a walk over what is on its way to one
/// instance.
class load_book {
public:
  struct options {
    std::size_t requests_max = 65536;

    /// Of a token's prefill, for what a group has that was not placed here.
    double prefill_token_ns = 0;

    /// What a request's decoding is thought to take before the first one has ended.
    nanoseconds decode_time_at_first = std::chrono::seconds{10};

    /// The weight of the latest request that ended, in the average of their times.
    double decode_time_weight = 1.0 / 32;

    /// What a group has handed off must be reported by its decode instance within this.
    nanoseconds handoff_limit = std::chrono::seconds{5};
  };

  explicit load_book(options how);

  // -- who is there -----------------------------------------------------------

  void seat(const group_id& who, moment now);
  void seat(const instance_id& who, moment now);

  /// Forgets it, and every request that is there or on its way there. Returns how many.
  std::size_t lose(const group_id& who, moment now);
  std::size_t lose(const instance_id& who, moment now);

  // -- requests ---------------------------------------------------------------

  /// False, and nothing changes, if the book is full, has this request already, or
  /// does not know one of the two.
  [[nodiscard]] bool place(const placement& one, moment now);

  /// Forgets a request, wherever it is. False if it is not there.
  bool end(request_id request, moment now);

  /// The next moment at which something expires; nothing if the book is empty.
  std::optional<moment> next_expiry() const;

  /// Forgets what has expired by `now`. Returns how many requests.
  std::size_t expire(moment now);

  // -- reports ----------------------------------------------------------------

  void hear(const group_id& who, const prefill_report& said, moment now);
  void hear(const instance_id& who, const decode_report& said, moment now);

  // -- what comes of it -------------------------------------------------------

  const loads& all() const {
    return loads_;
  }

  std::size_t size() const {
    return entries_.size();
  }

private:
  enum class stage : std::uint8_t { prefill, handoff, decode };

  struct entry {
    placement what;
    stage at = stage::prefill;
    moment expires_at{};
    moment began{};
    std::uint64_t order = 0;
  };
  using entries = std::unordered_map<request_id, entry>;

  /// Requests at a group, in the order they were placed.
  struct group_side {
    std::map<std::uint64_t, request_id> queue;
    double token_ns = 0; // of what was placed last
  };

  struct instance_side {
    std::set<std::pair<moment, request_id>> decoding;
    std::vector<moment> strangers; // when it first spoke of requests that are not ours
  };

  void leave_group(entry& one, moment now);
  void leave_instance(const entry& one);
  void await_handoff(entry& one, moment now);
  void begin(entry& one, moment now);
  void remove(entries::iterator at, moment now);
  void expire_at(entry& one, moment when);
  template <class Doomed>
  std::size_t remove_all(Doomed doomed, moment now);
  void correct(const group_id& who, const prefill_report& said, moment now);
  void count(const instance_id& who, std::uint32_t sequences, moment now);
  void observe(nanoseconds decoded);

  options how_;
  loads loads_;
  entries entries_;
  std::map<group_id, group_side> groups_;
  std::map<instance_id, instance_side> instances_;
  std::set<std::pair<moment, request_id>> expiries_;
  std::uint64_t order_ = 0;
  std::uint64_t ended_total_ = 0;
};

} // namespace perigee::conductor
