/// \file
/// wired_transport: two processes' memory, and a wire between that a test can cut.
#pragma once

#include "transport/move_run.hpp"
#include "transport/peer.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace perigee::transport::test {

class wired_transport;

/// What the two ends of a way share, and what a test does to it.
struct wire {
  std::string name;
  bool is_within_host = false;
  bool is_cut = false;           ///< No further connection comes about.
  bool holds = false;            ///< Movements begin, and do not end.
  bool is_deaf = false;          ///< abort() changes nothing.
  unsigned refusals = 0;         ///< So many movements do not even begin.
  bool keeps_forgetting = false; ///< forget() takes effect by forget_now() alone.
  std::size_t connected = 0;
  std::vector<wired_transport*> ends{};

  inline void fail();
  inline void forget_now();
};

/// One end. Has no thread: tells what happens as it happens.
class wired_transport final : public peer_transport {
public:
  wired_transport(wire& over, const segment_table& segments, on_peer told)
    : over_(over), segments_(segments), told_(std::move(told)),
      number_(over.ends.size()) {
    over_.ends.push_back(this);
  }
  ~wired_transport() override {
    close();
    over_.ends[number_] = nullptr;
  }

  endpoint here() const override {
    return {std::byte{static_cast<std::uint8_t>(number_)}};
  }

  result<void, fault> expect(peer_id who, const ticket& shown,
                             std::chrono::nanoseconds) override {
    expected_[shown.secret] = who;
    return {};
  }

  result<void, fault> connect(peer_id who, const endpoint& where,
                              const ticket& shown) override {
    auto* there = over_.ends.at(static_cast<std::size_t>(where.at(0)));
    auto known = there ? there->expected_.find(shown.secret) : expected_.end();
    if (over_.is_cut || !there || known == there->expected_.end()) {
      told_(who, {peer_state::lost, loss::unreachable});
      return {};
    }
    auto me = known->second;
    there->expected_.erase(known);
    ++over_.connected;
    peers_[who] = there;
    there->peers_[me] = this;
    told_(who, {peer_state::up});
    there->told_(me, {peer_state::up});
    return {};
  }

  void set_rates(peer_id who, const rates& most) override {
    rates_[who] = most;
  }

  result<descriptor, fault> describe(segment_id which) override {
    return descriptor{
      std::byte{static_cast<std::uint8_t>(static_cast<std::uint64_t>(which))}};
  }

  result<void, fault> learn(peer_id who, const descriptor& what) override {
    if (!peers_.contains(who))
      return failure(fault::gone);
    known_[segment_id{static_cast<std::uint64_t>(what.at(0))}] = who;
    return {};
  }

  result<void, fault> submit(move_id id, move what, on_done then) override {
    auto from = find(what.from), to = find(what.to);
    if (!from || !to)
      return failure(fault::peer_lost);
    if (over_.refusals > 0) {
      --over_.refusals;
      return failure(fault::peer_lost);
    }
    held_.emplace(id, then);
    if (over_.holds)
      return {};
    auto run = move_run::begin(std::move(what), *from, *to);
    if (!run)
      return failure(run.error());
    run->turn(~std::uint64_t{0});
    end(id, run->end(std::nullopt));
    return {};
  }

  void abort(move_id id, fault why) override {
    if (!over_.is_deaf)
      end(id, failure(why));
  }

  void close() override {
    end_all(fault::closed);
  }

  void forget(peer_id who) override {
    peers_.erase(who);
    std::erase_if(known_, [&](const auto& one) { return one.second == who; });
    end_all(fault::peer_lost);
    forgotten_.push_back(who);
    if (!over_.keeps_forgetting)
      forget_now();
  }

  void forget_now() {
    for (auto who : std::exchange(forgotten_, {}))
      told_(who, {peer_state::forgotten});
  }

  /// All peers are gone, as far as this end can tell.
  void lose_all() {
    for (const auto& [who, there] : std::exchange(peers_, {}))
      told_(who, {peer_state::lost, loss::disconnected});
    end_all(fault::peer_lost);
  }

  statistics counted() const override {
    return {};
  }
  std::optional<peer_statistics> counted_of(peer_id) const override {
    return std::nullopt;
  }
  std::uint64_t strangers_total() const override {
    return 0;
  }

  /// What was last said of each.
  const std::map<peer_id, rates>& rates_told() const {
    return rates_;
  }

private:
  std::optional<segment> find(segment_id which) const {
    if (auto own = segments_.find(which))
      return own;
    auto known = known_.find(which);
    if (known == known_.end() || !peers_.contains(known->second))
      return std::nullopt;
    return peers_.at(known->second)->segments_.find(which);
  }

  void end(move_id id, const outcome& came) {
    if (auto one = held_.extract(id))
      one.mapped()(id, came);
  }

  void end_all(fault why) {
    for (auto& [id, then] : std::exchange(held_, {}))
      then(id, failure(why));
  }

  wire& over_;
  const segment_table& segments_;
  const on_peer told_;
  const std::size_t number_;
  std::map<std::array<std::byte, 32>, peer_id> expected_;
  std::map<peer_id, wired_transport*> peers_;
  std::map<peer_id, rates> rates_;
  std::map<segment_id, peer_id> known_;
  std::map<move_id, on_done> held_;
  std::vector<peer_id> forgotten_;
};

inline void wire::fail() {
  for (auto* one : ends)
    if (one)
      one->lose_all();
}

inline void wire::forget_now() {
  for (auto* one : ends)
    if (one)
      one->forget_now();
}

} // namespace perigee::transport::test
