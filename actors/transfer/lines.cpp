#include "actors/transfer/lines.hpp"

#include "schemas/convert.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <cstring>

namespace perigee::transfer {
namespace {

using namespace std::chrono_literals;

constexpr lines::nanoseconds answer_limit
  = 5s; // of who is dialed, to the line's being up
constexpr lines::nanoseconds wait_first = 100ms, wait_most = 2s;
constexpr std::size_t nodes_max = 65'536;
constexpr std::size_t shown_max = 1024; // of one message

/// After so many in vain.
lines::nanoseconds wait_after(unsigned tries) {
  return wait_first * (1u << std::min(tries, 6u));
}

capnp::Data::Reader data_of(const transport::opaque& bytes) {
  return {reinterpret_cast<const capnp::byte*>(bytes.data()), bytes.size()};
}

transport::opaque bytes_of(capnp::Data::Reader said) {
  const auto* bytes = reinterpret_cast<const std::byte*>(said.begin());
  return {bytes, bytes + said.size()};
}

std::string_view text_of(capnp::Text::Reader said) {
  return {said.cStr(), said.size()};
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
    redials_(
      nodes_max, [this](auto due, auto epoch) { told_.set_timer(due, epoch); },
      [this](auto node, char) { dial(node); }) {}

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
  one.caller = {};
  one.failed.clear();
  one.tries = 0;
  if (auto old = one.current)
    leave(*old);
  redials_.take(node);
  one.asked.reset(); // by who was there before
  if (!one.is_there)
    told_.settled(node);
  else if (dials(node))
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

// -- dialing ------------------------------------------------------------------

void lines::dial(node_index node) {
  auto& one = contacts_[node];
  if (!one.is_there)
    return;
  if (auto old = one.current)
    leave(*old);
  one.dials_when_clear = !is_clear_of(node);
  if (!one.dials_when_clear)
    offer_ways(node);
}

void lines::offer_ways(node_index node) {
  auto& one = contacts_[node];
  auto offered = ways_to(node);
  if (std::ranges::all_of(offered, [&](auto way) { return one.failed.contains(way); }))
    one.failed.clear();
  std::erase_if(offered, [&](auto way) { return one.failed.contains(way); });
  one.number = ++numbers_;
  desk_.tell<schema::Dial>(
    transfer_name{node, 0}, rt::unprompted, [&](schema::Dial::Builder wish) {
      set_name(wish.initMover(), desk_.me());
      wish.setNumber(one.number);
      auto offers = wish.initWays(static_cast<unsigned>(offered.size()));
      unsigned at = 0;
      for (auto i : offered) {
        auto offer = offers[at++];
        offer.setTransport(all_.ways[i].name);
        if (all_.ways[i].is_within_host)
          offer.setHost(
            {reinterpret_cast<const capnp::byte*>(all_.host.data()), all_.host.size()});
      }
    });
  // It is not heard by who has not been told of us yet.
  dial_later(node, std::min(wait_after(one.tries++), answer_limit));
}

void lines::dial_later(node_index node, nanoseconds wait) {
  redials_.take(node);
  bool kept = redials_.put(node, desk_.now() + wait, {});
  PERIGEE_ASSERT(kept, "there is room for every node");
}

void lines::on_dialed(const Msg<schema::Dialed>& said) {
  auto who = to_name<transfer_name>(said->getMover());
  auto at = contacts_.find(who.node);
  if (!desk_.is_from(who, said) || at == contacts_.end()
      || at->second.number != said->getNumber() || at->second.current)
    return probe_->dropped_stale();
  auto& one = at->second;
  told_.settled(who.node);
  if (said->isRefused()) {
    one.failed.clear();
    log_->warn("line_refused node={} why=\"{}\"", name_of(who.node),
               text_of(said->getRefused()));
    return dial_later(who.node, wait_most);
  }
  auto to = said->getConnect();
  auto way = way_called(text_of(to.getTransport()));
  transport::ticket shown;
  if (!way || to.getTicket().size() != shown.secret.size())
    return probe_->dropped_stale();
  std::memcpy(shown.secret.data(), to.getTicket().begin(), shown.secret.size());
  dial_later(who.node, answer_limit);
  auto peer = begin(who.node, one.number, *way);
  auto began = all_.ways[*way].by->connect(peer, bytes_of(to.getEndpoint()), shown);
  if (!began)
    return is_lost(peer, "the transport refuses to connect");
  all_.ways[*way].by->set_rates(peer, terms_of(who.node).most);
}

// -- being dialed -------------------------------------------------------------

void lines::on_dial(const Msg<schema::Dial>& wish) {
  auto who = to_name<transfer_name>(wish->getMover());
  if (!desk_.is_from(who, wish) || who.node <= desk_.me().node)
    return probe_->dropped_stale();
  auto& one = contacts_[who.node];
  one.caller = rt::actor_tag{wish->getHeader().getSender()};
  if (auto old = one.current)
    leave(*old);
  if (is_clear_of(who.node))
    answer(wish);
  else
    one.asked = wish; // in place of an earlier one
}

void lines::answer(const Msg<schema::Dial>& wish) {
  auto who = to_name<transfer_name>(wish->getMover());
  told_.settled(who.node);
  if (auto way = choose(who.node, *wish))
    return accept(wish, *way);
  desk_.tell<schema::Dialed>(who, wish, [&](schema::Dialed::Builder said) {
    set_name(said.initMover(), desk_.me());
    said.setNumber(wish->getNumber());
    const auto& only = terms_of(who.node).transport;
    said.setRefused(only.empty()
                      ? "there is no transport that both have"
                      : "the topology wants " + only + ", which not both have");
  });
}

/// The best of our own that is offered.
std::optional<std::size_t> lines::choose(node_index node,
                                         schema::Dial::Reader wish) const {
  for (auto i : ways_to(node))
    for (auto offer : wish.getWays()) {
      auto host = offer.getHost();
      bool same_host = host.size() == all_.host.size()
                       && std::equal(host.begin(), host.end(), all_.host.begin());
      if (text_of(offer.getTransport()) == all_.ways[i].name
          && (!all_.ways[i].is_within_host || same_host))
        return i;
    }
  return std::nullopt;
}

void lines::accept(const Msg<schema::Dial>& wish, std::size_t way) {
  auto who = to_name<transfer_name>(wish->getMover());
  auto peer = begin(who.node, wish->getNumber(), way);
  auto shown = told_.draw();
  auto& transport = *all_.ways[way].by;
  bool is_expected = transport.expect(peer, shown, answer_limit).has_value();
  transport.set_rates(peer, terms_of(who.node).most);
  desk_.tell<schema::Dialed>(who, wish, [&](schema::Dialed::Builder said) {
    set_name(said.initMover(), desk_.me());
    said.setNumber(wish->getNumber());
    if (!is_expected)
      return said.setRefused("the transport has no room for a peer");
    auto to = said.initConnect();
    to.setTransport(all_.ways[way].name);
    to.setEndpoint(data_of(transport.here()));
    to.setTicket(
      {reinterpret_cast<const capnp::byte*>(shown.secret.data()), shown.secret.size()});
  });
  if (!is_expected)
    is_lost(peer, "the transport has no room for a peer");
}

std::optional<std::size_t> lines::way_called(std::string_view name) const {
  for (std::size_t i = 0; i < all_.ways.size(); ++i)
    if (all_.ways[i].name == name)
      return i;
  return std::nullopt;
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
  contacts_[one.node].tries = 0;
  redials_.take(one.node);
  probe_->lines(up());
  line_census::line over{all_.ways[one.way].name, reason(one)};
  log_->info("line_up node={} transport={} why={}", name_of(one.node), over.transport,
             over.why);
  probe_->census().is_up(name_of(one.node), std::move(over));
  show(which);
  told_.more();
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
  log_->warn("line_lost node={} transport={} why=\"{}\"", name_of(one.node),
             all_.ways[one.way].name, why);
  probe_->lost_line();
  auto node = one.node;
  auto way = one.way;
  leave(which);
  auto& other = contacts_[node];
  if (!other.is_there || !dials(node))
    return;
  other.failed.insert(way);
  dial_later(node, std::min(wait_after(other.tries++), wait_most));
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
  other.asked.reset();
  other.dials_when_clear = false;
  redials_.take(node);
  for (auto& [which, one] : lines_)
    if (one.node == node)
      leave(which);
  if (is_clear_of(node))
    told_.clear(node);
}

bool lines::is_clear_of(node_index node) const {
  return std::ranges::none_of(lines_, [&](const auto& one) {
    return one.second.node == node && one.second.now == state::leaving;
  });
}

// -- segments -----------------------------------------------------------------

/// What the other side has not seen yet.
void lines::show(transport::peer_id which) {
  auto& one = lines_.at(which);
  if (one.now != state::up)
    return;
  std::vector<std::pair<transport::segment, transport::descriptor>> fresh;
  for (auto id : segments_->ids()) {
    auto segment = segments_->find(id);
    if (!segment || fresh.size() == shown_max || !one.shown.insert(id).second)
      continue;
    if (auto described = by(one).describe(id))
      fresh.emplace_back(*segment, std::move(*described));
  }
  desk_.tell<schema::Shown>(
    transfer_name{one.node, 0}, rt::unprompted, [&](schema::Shown::Builder news) {
      set_name(news.initMover(), desk_.me());
      news.setNumber(one.number);
      auto all = news.initSegments(static_cast<unsigned>(fresh.size()));
      for (unsigned i = 0; i < all.size(); ++i) {
        const auto& [segment, described] = fresh[i];
        all[i].setId(static_cast<std::uint64_t>(segment.id));
        all[i].setLayerBytes(segment.shape.layer_bytes);
        all[i].setLayers(segment.shape.layers);
        all[i].setBlocks(segment.blocks);
        all[i].setDescriptor(data_of(described));
      }
    });
}

void lines::on_shown(const Msg<schema::Shown>& said) {
  auto who = to_name<transfer_name>(said->getMover());
  auto at = contacts_.find(who.node);
  if (!desk_.is_from(who, said) || at == contacts_.end() || !at->second.current
      || at->second.number != said->getNumber())
    return probe_->dropped_stale();
  for (auto one : said->getSegments())
    learn(*at->second.current, one);
  told_.more();
}

void lines::learn(transport::peer_id which, schema::Shown::Segment::Reader one) {
  const auto& over = lines_.at(which);
  transport::segment_id id{one.getId()};
  transport::segment shape{
    id, nullptr, {one.getLayerBytes(), one.getLayers()}, one.getBlocks(), {}, 0};
  if (!transport::has_shape(shape) || segments_->find(id)
      || !by(over).learn(which, bytes_of(one.getDescriptor()))) {
    probe_->refused_segment();
    return log_->warn("segment_refused node={} transport={}", name_of(over.node),
                      all_.ways[over.way].name);
  }
  far_[id] = {over.node, which, over.way, shape.shape, shape.blocks};
}

bool lines::is_there(node_index node) const {
  auto at = contacts_.find(node);
  return at != contacts_.end() && at->second.is_there;
}

bool lines::expects_more() const {
  return std::ranges::any_of(contacts_,
                             [](const auto& one) { return one.second.is_there; });
}

std::size_t lines::up() const {
  return static_cast<std::size_t>(std::ranges::count_if(
    lines_, [](const auto& one) { return one.second.now == state::up; }));
}

void lines::on_timer(std::uint64_t epoch) {
  redials_.on_timer(epoch, desk_.now());
}

transport::peer_transport& lines::by(const line& one) const {
  return *all_.ways[one.way].by;
}

} // namespace perigee::transfer
