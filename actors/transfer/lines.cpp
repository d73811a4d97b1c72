#include "actors/transfer/lines.hpp"

#include "actors/transfer/opaque_words.hpp"

#include <spdlog/logger.h>

#include <algorithm>

namespace perigee::transfer {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t errands_max = 3 * std::size_t{65'536}; // each, of all nodes
constexpr lines::nanoseconds missed_after = 10s;
constexpr lines::nanoseconds unheard_after = 60s; // far more than forgetting takes
constexpr lines::nanoseconds return_first = 5min, return_most = 1h;
constexpr lines::nanoseconds while_busy = 10s;

/// To a better way, after so many returns in vain.
lines::nanoseconds return_after(unsigned returns) {
  return std::min(return_first * (1u << std::min(returns, 4u)), return_most);
}

} // namespace

schema::LineChanged::State to_schema(transport::peer_state what) {
  switch (what) {
    case transport::peer_state::up: return schema::LineChanged::State::UP;
    case transport::peer_state::lost: return schema::LineChanged::State::LOST;
    case transport::peer_state::forgotten: break;
  }
  return schema::LineChanged::State::FORGOTTEN;
}

std::string_view to_text(transport::loss why) {
  switch (why) {
    case transport::loss::none: break;
    case transport::loss::unreachable: return "nobody is there";
    case transport::loss::turned_away: return "it turns us away";
    case transport::loss::disconnected: return "the connection has ended";
    case transport::loss::silent: return "it does not answer in time";
    case transport::loss::unsound: return "it has broken the protocol";
  }
  return "";
}

lines::lines(rt::desk<transfer_actor>& desk, const paths& all, line_plan plan,
             std::shared_ptr<transport::segment_table> segments,
             std::shared_ptr<spdlog::logger> log, std::shared_ptr<probe> counts,
             calls told)
  : desk_(desk), all_(all), plan_(std::move(plan)), segments_(std::move(segments)),
    log_(std::move(log)), probe_(std::move(counts)), told_(std::move(told)),
    errands_(
      errands_max, [this](auto due, auto epoch) { told_.set_timer(due, epoch); },
      [this](auto what, char) { run(what.second, what.first); }) {}

// -- who is there -------------------------------------------------------------

void lines::on_member(const Msg<schema::Member>& news) {
  if (all_.ways.empty())
    return;
  node_index node{news->getWho().getNode()};
  if (node == desk_.me().node) {
    if (news->getUp()) // and may have brought a segment
      for (const auto& [which, one] : lines_)
        show(which);
    return;
  }
  if (news->getRole() != schema::Role::TRANSFER)
    return;
  auto& one = contacts_[node];
  one.is_there = news->getUp();
  rt::actor_tag who{news->getTag()};
  if (one.is_there && one.caller == who)
    return; // it has been quicker to dial than the news of it
  if (auto old = one.current)
    leave(*old);
  forget_errands(node);
  one = contact{.is_there = one.is_there,
                .number = one.number,
                .is_settled = one.is_settled || !one.is_there};
  if (!one.is_there)
    return told_.settled(node);
  await_line(node);
  if (dials(node))
    dial(node);
}

const line_terms& lines::terms_of(node_index node) const {
  static const line_terms none;
  auto at = plan_.find(node);
  return at == plan_.end() ? none : at->second;
}

std::string lines::name_of(node_index node) const {
  const auto& name = terms_of(node).node;
  return name.empty() ? std::to_string(static_cast<unsigned>(node)) : name;
}

/// Those that may be taken, best first.
std::vector<std::size_t> lines::ways_to(node_index node) const {
  const auto& only = terms_of(node).transport;
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < all_.ways.size(); ++i)
    if (only.empty() || all_.ways[i].name == only)
      some.push_back(i);
  return some;
}

bool lines::dials(node_index node) const {
  return desk_.me().node > node;
}

// -- a line's course ----------------------------------------------------------

transport::peer_id lines::begin(node_index node, std::uint64_t number,
                                std::size_t way) {
  transport::peer_id peer{++numbers_};
  lines_.emplace(peer, line{node, number, way});
  auto& one = contacts_[node];
  one.current = peer;
  one.number = number;
  return peer;
}

void lines::on_line_changed(schema::LineChanged::Reader news) {
  transport::peer_id which{news.getLine()};
  if (!lines_.contains(which))
    return;
  switch (news.getState()) {
    case schema::LineChanged::State::UP: return is_up(which);
    case schema::LineChanged::State::LOST:
      return is_lost(which, text_of(news.getWhy()));
    case schema::LineChanged::State::FORGOTTEN: return is_forgotten(which);
  }
}

void lines::is_up(transport::peer_id which) {
  auto& one = lines_.at(which);
  if (one.now != state::connecting)
    return;
  one.now = state::up;
  probe_->lines(up());
  has_line(one);
  line_census::line over{all_.ways[one.way].name, reason(one)};
  log_->info("line_up node={} transport={} why={}", name_of(one.node), over.transport,
             over.why);
  probe_->census().is_up(name_of(one.node), std::move(over));
  show(which);
  told_.more();
}

void lines::has_line(const line& one) {
  auto& other = contacts_[one.node];
  other.tries = 0;
  other.last_complaint.clear();
  forget_errands(one.node);
  other.was_missed = false;
  // Though nobody said otherwise: a predecessor may have.
  told_.reached(one.node, schema::Reached::How::WELL);
  if (other.failed.empty())
    other.returns = 0;
  else if (dials(one.node))
    run_later(errand::go_back, one.node, return_after(other.returns));
}

/// Why this transport, and no other.
std::string lines::reason(const line& one) const {
  if (!terms_of(one.node).transport.empty())
    return "laid_down";
  if (one.way == ways_to(one.node).front())
    return "best";
  return contacts_.at(one.node).failed.empty() ? "best_of_both" : "better_failed";
}

void lines::is_lost(transport::peer_id which, std::string_view why) {
  auto& one = lines_.at(which);
  if (one.now == state::leaving)
    return;
  auto& last = contacts_[one.node].last_complaint;
  if (one.now == state::up || last != why)
    log_->warn("line_lost node={} transport={} why=\"{}\"", name_of(one.node),
               all_.ways[one.way].name, why);
  last = why;
  probe_->lost_line();
  auto node = one.node;
  auto way = one.way;
  leave(which);
  auto& other = contacts_[node];
  if (!other.is_there || !dials(node))
    return;
  other.failed.insert(way);
  run_later(errand::dial, node, wait_before_next(other));
}

/// It is of no use any more, to either.
void lines::leave(transport::peer_id which) {
  auto& one = lines_.at(which);
  if (one.now == state::leaving)
    return;
  if (one.now == state::up)
    probe_->census().is_down(name_of(one.node));
  one.now = state::leaving;
  if (contacts_[one.node].current == which)
    contacts_[one.node].current.reset();
  std::erase_if(far_, [&](const auto& known) { return known.second.peer == which; });
  probe_->lines(up());
  by(one).forget(which);
  errands_.take({one.node, errand::go_back});
  if (is_there(one.node))
    await_line(one.node);
}

void lines::is_forgotten(transport::peer_id which) {
  auto node = lines_.at(which).node;
  lines_.erase(which);
  if (is_clear_of(node))
    go_on(node);
}

/// All that there was of it is forgotten.
void lines::go_on(node_index node) {
  told_.clear(node);
  auto& one = contacts_[node];
  if (auto wish = std::exchange(one.asked, {}))
    answer(*wish);
  else if (std::exchange(one.dials_when_clear, false) && one.is_there)
    offer_ways(node);
}

void lines::cut(node_index node) {
  auto& other = contacts_[node]; // nothing of it is to begin any more
  other.is_cut = true;
  other.asked.reset();
  other.dials_when_clear = false;
  for (auto& [which, one] : lines_)
    if (one.node == node)
      leave(which);
  forget_errands(node);
  if (is_clear_of(node))
    told_.clear(node);
}

bool lines::is_clear_of(node_index node) const {
  return std::ranges::none_of(lines_, [&](const auto& one) {
    return one.second.node == node && one.second.now == state::leaving;
  });
}

// -- errands ------------------------------------------------------------------

void lines::run(errand what, node_index node) {
  switch (what) {
    case errand::dial: return dial(node);
    case errand::miss: return miss(node);
    case errand::go_back: return go_back(node);
  }
}

/// In place of the same that was to be run some other time.
void lines::run_later(errand what, node_index node, nanoseconds wait) {
  errands_.take({node, what});
  bool kept = errands_.put({node, what}, desk_.now() + wait, {});
  PERIGEE_ASSERT(kept, "there is room for every node's");
}

void lines::forget_errands(node_index node) {
  for (auto what : {errand::dial, errand::miss, errand::go_back})
    errands_.take({node, what});
}

/// From now on it is missed if it does not come.
void lines::await_line(node_index node) {
  if (!errands_.find({node, errand::miss}))
    run_later(errand::miss, node, missed_after);
}

/// As long as there is no line, now and then.
void lines::miss(node_index node) {
  auto& one = contacts_[node];
  bool was_missed = std::exchange(one.was_missed, true);
  bool was_heard = std::exchange(one.was_heard, false);
  using how = schema::Reached::How;
  told_.reached(node, was_missed && !was_heard ? how::UNHEARD : how::NOT_AT_ALL);
  run_later(errand::miss, node, unheard_after);
}

/// What the other end moves over the line meanwhile is begun again, or computed.
void lines::go_back(node_index node) {
  if (!told_.is_idle(node))
    return run_later(errand::go_back, node, while_busy);
  auto& one = contacts_[node];
  ++one.returns;
  one.failed.clear();
  dial(node);
}

void lines::on_timer(std::uint64_t epoch) {
  errands_.on_timer(epoch, desk_.now());
}

// -- looking ------------------------------------------------------------------

bool lines::is_there(node_index node) const {
  auto at = contacts_.find(node);
  return at != contacts_.end() && is_there(at->second);
}

/// Who dials is, though the news of it may be late.
bool lines::is_there(const contact& one) {
  return one.is_there || one.caller != rt::actor_tag{};
}

bool lines::is_settled(node_index node) const {
  auto at = contacts_.find(node);
  return at != contacts_.end() && at->second.is_settled;
}

bool lines::expects_more() const {
  return std::ranges::any_of(contacts_,
                             [](const auto& one) { return is_there(one.second); });
}

std::size_t lines::up() const {
  return static_cast<std::size_t>(std::ranges::count_if(
    lines_, [](const auto& one) { return one.second.now == state::up; }));
}

transport::peer_transport& lines::by(const line& one) const {
  return *all_.ways[one.way].by;
}

} // namespace perigee::transfer
