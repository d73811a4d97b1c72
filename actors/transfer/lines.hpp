/// \file
/// lines: the connections of a transfer actor to those of other nodes, past all
/// messages.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/pending_table.hpp"
#include "actors/transfer/far_segment.hpp"
#include "actors/transfer/line_terms.hpp"
#include "actors/transfer/paths.hpp"
#include "actors/transfer/probe.hpp"
#include "schemas/line.capnp.h"
#include "schemas/node.capnp.h"

#include <functional>
#include <map>
#include <optional>
#include <set>

namespace spdlog {
class logger;
}

namespace perigee::transfer {

schema::LineChanged::State to_schema(transport::peer_state what);
std::string_view to_text(transport::loss why);

/// Part of the state of a transfer actor: one line to each other node's, over the best
/// way that both have, or the one that is laid down. A line that fails is replaced, by
/// another way if there may be one.
///
/// A new line begins once both ends have forgotten the last one. So what was under way
/// over that reaches nobody's memory any more, whatever its end had known.
///
/// Of two nodes, the later in the topology dials. KV of a node moves only after both
/// have shown each other their segments.
///
/// lines_dialing.cpp has how two agree upon a line; lines_segments.cpp what they show
/// each other; lines.cpp a line's course.
class lines {
public:
  using nanoseconds = std::chrono::nanoseconds;

  struct calls {
    std::function<transport::ticket()> draw; ///< What nobody can guess.
    std::function<void()> more;              ///< Segments have become known.
    std::function<void(node_index)>
      clear; ///< Nothing of that node reaches memory here.
    std::function<void(node_index)>
      settled; ///< Nothing that went over earlier lines reaches memory there.
    std::function<void(node_index, schema::Reached::How)> reached;
    std::function<bool(node_index)> is_idle; ///< Nothing is moved to and from there.
    std::function<void(nanoseconds due, std::uint64_t epoch)> set_timer;
  };

  /// `all` outlives this.
  lines(rt::desk<transfer_actor>& desk, const paths& all, line_plan plan,
        std::shared_ptr<transport::segment_table> segments,
        std::shared_ptr<spdlog::logger> log, std::shared_ptr<probe> counts, calls told);

  void on_member(const Msg<schema::Member>& news);
  void on_dial(const Msg<schema::Dial>& wish);
  void on_dialed(const Msg<schema::Dialed>& said);
  void on_shown(const Msg<schema::Shown>& said);
  void on_line_changed(schema::LineChanged::Reader news);
  void on_timer(std::uint64_t epoch);

  /// Ends all lines to `node`; told_.clear(node) follows, at once if there are none.
  void cut(node_index node);

  /// Whether nothing of `node` reaches memory here, but by a line that is in use.
  bool is_clear_of(node_index node) const;

  /// Those to whom a line is in use.
  const far_segments& known() const {
    return far_;
  }

  /// Whether a line to `node` is up, or will be, or somebody there wants one.
  bool is_there(node_index node) const;

  /// Whether nothing reaches memory of `node` that went over lines of a predecessor.
  bool is_settled(node_index node) const;

  /// Whether segments of other nodes may become known soon.
  bool expects_more() const;

  std::size_t up() const;

private:
  enum class state : std::uint8_t { connecting, up, leaving };

  struct line {
    node_index node{};
    std::uint64_t number = 0; ///< Of the Dial that led to it.
    std::size_t way = 0;
    state now = state::connecting;
    std::set<transport::segment_id> shown{};
  };

  /// What is known of another node's transfer actor.
  struct contact {
    bool is_there = false;
    rt::actor_tag caller{};   ///< Who dialed last.
    std::uint64_t number = 0; ///< Of the last Dial between the two.
    bool dials_when_clear = false;
    std::optional<Msg<schema::Dial>> asked{}; ///< To be answered when it is clear.
    std::optional<transport::peer_id> current{};
    std::set<std::size_t> failed{}; ///< Ways.
    std::uint32_t tries = 0;        ///< Since the last line that was up.
    std::uint32_t returns = 0;      ///< To ways that had failed, in vain.
    bool is_settled = false;        ///< See is_settled().
    bool is_cut = false;            ///< No line is to begin before it is there anew.
    bool was_missed = false;        ///< It was said that there is no line.
    bool was_heard = false;         ///< While there was none.
    std::string last_complaint{};   ///< That was logged.
  };

  /// What is to be done about a node in a while.
  enum class errand : std::uint8_t {
    dial,    ///< Again.
    miss,    ///< There is no line.
    go_back, ///< To a better way, which had failed.
  };

  const line_terms& terms_of(node_index node) const;
  std::string name_of(node_index node) const;
  std::vector<std::size_t> ways_to(node_index node) const;
  std::string reason(const line& one) const;
  bool dials(node_index node) const;
  static bool is_there(const contact& one);
  void run(errand what, node_index node);
  void run_later(errand what, node_index node, nanoseconds wait);
  void forget_errands(node_index node);
  void await_line(node_index node);
  void miss(node_index node);
  void go_back(node_index node);
  void dial(node_index node);
  void offer_ways(node_index node);
  static nanoseconds wait_before_next(contact& one);
  void hear(node_index from);
  void complain(node_index node, std::string_view why);
  std::optional<std::size_t> choose(node_index node, schema::Dial::Reader wish) const;
  std::optional<std::size_t> way_called(std::string_view name) const;
  transport::peer_id begin(node_index node, std::uint64_t number, std::size_t way);
  void answer(const Msg<schema::Dial>& wish);
  void accept(const Msg<schema::Dial>& wish, std::size_t way);
  void go_on(node_index node);
  void leave(transport::peer_id which);
  void is_up(transport::peer_id which);
  void has_line(const line& one);
  void is_lost(transport::peer_id which, std::string_view why);
  void is_forgotten(transport::peer_id which);
  void show(transport::peer_id which);
  void learn(transport::peer_id which, schema::Shown::Segment::Reader one);
  transport::peer_transport& by(const line& one) const;

  rt::desk<transfer_actor>& desk_;
  const paths& all_;
  const line_plan plan_;
  std::shared_ptr<transport::segment_table> segments_;
  std::shared_ptr<spdlog::logger> log_;
  std::shared_ptr<probe> probe_;
  calls told_;
  std::map<node_index, contact> contacts_;
  std::map<transport::peer_id, line> lines_;
  far_segments far_;
  rt::pending_table<std::pair<node_index, errand>, char> errands_;
  std::uint64_t numbers_ = 0;
};

} // namespace perigee::transfer
