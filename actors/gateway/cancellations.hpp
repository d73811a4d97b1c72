/// \file
/// cancellations: requests that are over for their client, while others may hold
/// something of them.
#pragma once

#include "actors/gateway/deadlines.hpp"
#include "actors/gateway/open_request.hpp"
#include "actors/gateway/probe.hpp"
#include "actors/runtime/desk.hpp"

#include <chrono>
#include <functional>
#include <map>

namespace perigee::gateway {

/// Part of the gateway's actor: tells everybody concerned, and remembers who has not
/// said Cancelled yet. Bounded.
class cancellations {
public:
  using desk = rt::desk<gateway_actor>;

  cancellations(desk& by, deadlines& limits, probe& counts, node_index control,
                std::size_t requests_max, std::chrono::nanoseconds limit)
    : desk_(by), deadlines_(limits), probe_(counts), control_(control),
      requests_max_(requests_max), limit_(limit) {}

  std::size_t size() const {
    return all_.size();
  }

  bool is_full() const {
    return all_.size() >= requests_max_;
  }

  /// Tells all who may hold something of the attempt `request`.
  void begin(std::uint64_t request, const open_request& one);

  /// A request that is open no more was placed all the same, or not: whoever has it now
  /// is told. False if `said` means nothing.
  bool hear(const Msg<schema::Placed>& said);

  /// False if nobody waits for it.
  bool hear(const Msg<schema::Cancelled>& said);

  /// What these held went with them.
  void lost_conductor();
  void lost(const prefill_name& who);
  void lost(const decode_name& who);
  void lost(const coupled_name& who);

  /// Its time is over: nobody waits any more.
  void expire(std::uint64_t request);

private:
  struct cancelled {
    rt::cause why;
    std::optional<placement> where;

    // Who has not said Cancelled yet.
    bool conductor = false;
    bool prefill = false; // or coupled instance
    bool decode = false;

    bool is_over() const {
      return !conductor && !prefill && !decode;
    }
  };
  using table = std::map<std::uint64_t, cancelled>; // ordered: every walk is repeatable

  template <class Name>
  bool tell(const Name& whom, std::uint64_t request, const rt::cause& why);
  void tell_instances(std::uint64_t request, cancelled& one);
  void remember(std::uint64_t request, const cancelled& one);
  table::iterator forget(table::iterator which);
  bool is_acknowledged(cancelled& one, const Msg<schema::Cancelled>& said);

  template <class Change>
  void change_all(Change change);

  desk& desk_;
  deadlines& deadlines_;
  probe& probe_;
  node_index control_;
  std::size_t requests_max_;
  std::chrono::nanoseconds limit_;
  table all_; // by number
};

} // namespace perigee::gateway
