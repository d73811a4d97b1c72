#include "actors/transfer/lines.hpp"
#include "actors/transfer/opaque_words.hpp"
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

lines::nanoseconds wait_after(unsigned tries) {
  return wait_first * (1u << std::min(tries, 6u));
}

} // namespace

// -- dialing ------------------------------------------------------------------

void lines::dial(node_index node) {
  auto& one = contacts_[node];
  if (!one.is_there || one.is_cut)
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
  run_later(errand::dial, node, std::min(wait_after(one.tries++), answer_limit));
}

/// After so many in vain.
lines::nanoseconds lines::wait_before_next(contact& one) {
  return std::min(wait_after(one.tries++), wait_most);
}

/// It says by that that it has forgotten the last line, of whomever.
void lines::hear(node_index from) {
  contacts_[from].was_heard = true;
  contacts_[from].is_settled = true;
  told_.settled(from);
}

void lines::on_dialed(const Msg<schema::Dialed>& said) {
  auto who = to_name<transfer_name>(said->getMover());
  auto at = contacts_.find(who.node);
  if (!desk_.is_from(who, said) || at == contacts_.end()
      || at->second.number != said->getNumber() || at->second.current
      || at->second.is_cut)
    return probe_->dropped_stale();
  auto& one = at->second;
  hear(who.node);
  if (said->isRefused()) {
    one.failed.clear();
    complain(who.node, text_of(said->getRefused()));
    return run_later(errand::dial, who.node, wait_most);
  }
  auto to = said->getConnect();
  auto way = way_called(text_of(to.getTransport()));
  transport::ticket shown;
  if (!way || to.getTicket().size() != shown.secret.size())
    return probe_->dropped_stale();
  std::memcpy(shown.secret.data(), to.getTicket().begin(), shown.secret.size());
  run_later(errand::dial, who.node, answer_limit);
  auto peer = begin(who.node, one.number, *way);
  auto began = all_.ways[*way].by->connect(peer, bytes_of(to.getEndpoint()), shown);
  if (!began)
    return is_lost(peer, "the transport refuses to connect");
  all_.ways[*way].by->set_rates(peer, terms_of(who.node).most);
}

void lines::complain(node_index node, std::string_view why) {
  auto& last = contacts_[node].last_complaint;
  if (last == why)
    return;
  last = why;
  log_->warn("line_refused node={} why=\"{}\"", name_of(node), why);
}

// -- being dialed -------------------------------------------------------------

void lines::on_dial(const Msg<schema::Dial>& wish) {
  auto who = to_name<transfer_name>(wish->getMover());
  if (!desk_.is_from(who, wish) || who.node <= desk_.me().node)
    return probe_->dropped_stale();
  auto& one = contacts_[who.node];
  if (one.is_cut)
    return probe_->dropped_stale();
  one.caller = rt::actor_tag{wish->getHeader().getSender()};
  await_line(who.node);
  if (auto old = one.current)
    leave(*old);
  if (is_clear_of(who.node))
    answer(wish);
  else
    one.asked = wish; // in place of an earlier one
}

void lines::answer(const Msg<schema::Dial>& wish) {
  auto who = to_name<transfer_name>(wish->getMover());
  hear(who.node);
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

} // namespace perigee::transfer
