/// \file
/// flow_table: when modelled transfers end that share links.
#pragma once

#include "transport/modelled/fair_share.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <set>

namespace perigee::transport {

/// Flows of bytes over shared links. Each gets what fair_share() says, at any time; when
/// that lets it end is rounded up, once, to whole nanoseconds.
///
/// Pure: it is told the time, which never goes back. Whoever changes something has taken
/// before what had ended by then. One owner.
///
/// Cost of a beginning or an end: what one link can slow down at all is worked out anew,
/// and what that can slow down in turn. A link on which all could have as much as the
/// rest of their way allows slows down nobody. So where everything meets in a core that
/// is wide enough, that is a few flows; and where it is not, all of them.
class flow_table {
public:
  using nanoseconds = std::chrono::nanoseconds;
  using flow_id = std::uint64_t;

  /// Of each link, in bytes a second; none negative. Over one that has 0 nothing moves.
  explicit flow_table(std::vector<double> bytes_per_second);

  flow_table(const flow_table&) = delete;
  flow_table& operator=(const flow_table&) = delete;

  /// `id` is new, and no link in `path` twice. It cannot end before `now`. Of `parts`
  /// equal parts, which follow each other, take_parts() tells when each had gone over.
  void begin(flow_id id, std::uint64_t bytes, flow_path path, nanoseconds now,
             std::uint32_t parts = 0);

  /// Ends a flow before its time. False if there is none.
  bool cancel(flow_id id, nanoseconds now);

  /// A link is faster or slower from now on.
  void set_capacity(link_index link, double bytes_per_second, nanoseconds now);

  /// When the next flow ends, if nothing changes until then. Nothing if none does.
  std::optional<nanoseconds> next_end() const;

  /// Flows that have ended by `now`, by time, then by id. They are forgotten.
  std::vector<flow_id> take_ended(nanoseconds now);

  /// When each of the parts of a flow that take_ended() gave ended, in order; rounded up
  /// as ends are, the last with the flow. None if it had none. Forgotten, too.
  std::vector<nanoseconds> take_parts(flow_id id);

  /// What flow `id`, which is here, gets now; in bytes a second.
  double rate_of(flow_id id) const;

  std::size_t size() const {
    return flows_.size();
  }

private:
  struct flow {
    flow_id id;
    flow_path path;
    double bytes_left; // at `since`
    double most;       // bytes a nanosecond, were it alone
    double rate;       // bytes a nanosecond, now
    nanoseconds since;
    nanoseconds due;
    std::uint64_t seen; // by which search
    double bytes;
    std::uint32_t parts;
    std::vector<nanoseconds> part_ends{}; // by `since`
  };

  struct link {
    double capacity; // bytes a nanosecond
    double wanted;   // of all its flows, were each alone
    std::vector<flow*> flows;
    std::uint64_t seen; // by which search
    double left;        // while rates are worked out
    std::size_t unrated;

    bool is_narrow() const {
      return wanted > capacity;
    }
  };

  /// What can slow each other down.
  struct neighbourhood {
    std::vector<flow*> flows;
    std::vector<link*> links;
  };

  double most_of(const flow_path& path) const;
  void join(flow& one);
  void leave(flow& one);
  neighbourhood around(const flow_path& path);
  void share(neighbourhood& all, nanoseconds now);
  void rate(flow& one, double rate, nanoseconds now);
  static void end_parts(flow& one, nanoseconds now);
  void end(std::map<flow_id, flow>::iterator at, nanoseconds now);

  std::vector<link> links_;
  std::map<flow_id, flow> flows_;
  std::set<std::pair<nanoseconds, flow_id>> ends_;
  std::map<flow_id, std::vector<nanoseconds>> parts_; // of flows that have ended
  std::uint64_t searches_ = 0;
};

} // namespace perigee::transport
