#include "tests/lab/payload_net.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace perigee::test {

using namespace std::chrono_literals;
using namespace transport;
using std::chrono::nanoseconds;
using block_move = transport::move;

namespace {

constexpr nanoseconds silence_limit = 3s;
constexpr nanoseconds loss_most = 1s, forgetting_most = 1s;
constexpr std::uint64_t part_bytes_most = 128; // of one turn

template <class Number>
opaque bytes_of(Number number) {
  opaque bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

template <class Number>
Number number_in(const opaque& bytes) {
  Number number{};
  std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
  return number;
}

} // namespace

/// Two ends that have met.
struct payload_net::line {
  std::array<end*, 2> at{};
  std::array<peer_id, 2> called{};             ///< What each calls the other.
  std::array<bool, 2> is_open{true, true};     ///< The other may reach its memory.
  std::array<bool, 2> is_leaving{};            ///< It is forgetting the other.
  std::vector<std::shared_ptr<job>> orphans{}; ///< Of an end that is closed.
};

struct payload_net::job {
  move_id id;
  move_run run;
  block_move what; ///< Without its gates.
  segment from, to;
  std::shared_ptr<line> over;
  std::size_t here; ///< Which end of that began it.
  bool is_write;    ///< Into the other's memory.
  on_done then;
  nanoseconds went_on; ///< When it last did.
  std::optional<fault> doom{};
  bool is_over = false;

  /// All that its peer may still do to memory, at once.
  void gasp() const {
    if (auto last = move_run::begin(what, from, to))
      last->turn(~std::uint64_t{0});
  }
};

class payload_net::end final : public peer_transport {
public:
  end(payload_net& in, std::shared_ptr<process> home, const segment_table& segments,
      on_peer told)
    : in_(in), home_(home), segments_(segments), told_(std::move(told)),
      number_(in.ends_made_++) {
    in_.ends_.emplace(number_, this);
  }

  ~end() override {
    close();
    in_.ends_.erase(number_);
  }

  endpoint here() const override {
    return bytes_of(number_);
  }

  // -- meeting ----------------------------------------------------------------

  result<void, fault> expect(peer_id who, const ticket& shown,
                             nanoseconds for_how_long) override {
    if (is_closed_)
      return failure(fault::closed);
    expected_[shown.secret] = who;
    soon(for_how_long, [this, who, secret = shown.secret] {
      auto at = expected_.find(secret);
      if (at == expected_.end() || at->second != who)
        return;
      expected_.erase(at);
      told_(who, {peer_state::lost, loss::unreachable});
    });
    return {};
  }

  result<void, fault> connect(peer_id who, const endpoint& where,
                              const ticket& shown) override {
    if (is_closed_)
      return failure(fault::closed);
    connecting_.push_back(who);
    soon(in_.all_.between(100us, 2ms),
         [=, this, number = number_in<std::uint64_t>(where)] {
           auto at = in_.ends_.find(number);
           auto there = at == in_.ends_.end() ? nullptr : at->second->home_.lock();
           if (there && there->is_stopped())
             return soon(silence_limit, [=, this] { cannot_meet(who, loss::silent); });
           if (!there)
             return cannot_meet(who, loss::unreachable);
           meet(who, *at->second, shown);
         });
    return {};
  }

  // -- segments ---------------------------------------------------------------

  result<descriptor, fault> describe(segment_id which) override {
    if (!segments_.find(which))
      return failure(fault::gone);
    return bytes_of(which);
  }

  result<void, fault> learn(peer_id who, const descriptor& what) override {
    if (!peers_.contains(who))
      return failure(fault::gone);
    known_[number_in<segment_id>(what)] = who;
    return {};
  }

  // -- moves ------------------------------------------------------------------

  result<void, fault> submit(move_id id, block_move what, on_done then) override {
    if (is_closed_)
      return failure(fault::closed);
    auto own = segments_.find(what.from);
    bool is_write = own.has_value();
    if (!own)
      own = segments_.find(what.to);
    auto known = known_.find(is_write ? what.to : what.from);
    if (!own || known == known_.end())
      return failure(fault::peer_lost);
    auto over = peers_.at(known->second);
    auto* there = over->at[1 - side_in(*over)];
    auto far = there ? there->segments_.find(known->first) : std::nullopt;
    if (!far)
      return failure(there ? fault::gone : fault::peer_lost);
    auto from = is_write ? *own : *far, to = is_write ? *far : *own;
    auto bare = what;
    bare.wait_for = bare.opens = nullptr;
    auto run = move_run::begin(std::move(what), from, to);
    if (!run)
      return failure(run.error());
    auto one = std::make_shared<job>(job{id, std::move(*run), bare, from, to, over,
                                         side_in(*over), is_write, std::move(then),
                                         in_.all_.now()});
    jobs_.emplace(id, one);
    work_after(in_.all_.between(20us, 1ms), one);
    return {};
  }

  void abort(move_id id, fault why) override {
    if (auto at = jobs_.find(id); at != jobs_.end())
      at->second->doom = why; // it is looked at soon
  }

  /// Moves are as slow as the seed has it.
  void set_rates(peer_id, const rates&) override {}

  // -- ends -------------------------------------------------------------------

  void forget(peer_id who) override {
    std::erase(connecting_, who);
    std::erase_if(expected_, [&](const auto& one) { return one.second == who; });
    std::erase_if(known_, [&](const auto& one) { return one.second == who; });
    auto at = peers_.find(who);
    auto over = at == peers_.end() ? nullptr : at->second;
    if (over && has(*over)) {
      over->is_leaving[side_in(*over)] = true;
      soon(in_.all_.between(0us, 1ms),
           [=, this] { end_all_of(*over, fault::peer_lost); });
      leave(over, in_.all_.between(1ms, loss_most));
    }
    soon(in_.all_.between(1ms, forgetting_most), [=, this] {
      if (over && has(*over)) {
        shut(*over);
        peers_.erase(who);
        over->at[side_in(*over)] = nullptr;
      }
      told_(who, {peer_state::forgotten});
    });
  }

  void close() override {
    if (std::exchange(is_closed_, true))
      return;
    auto jobs = std::exchange(jobs_, {});
    auto home = home_.lock();
    // Who closes and lives on leaves nothing on its way: that its peer may be slow to
    // notice is not tried here.
    bool is_killed = home && home->is_killed();
    for (auto& [id, one] : jobs) {
      one->is_over = true;
      if (one->is_write && is_killed)
        one->over->orphans.push_back(one);
    }
    for (const auto& [who, over] : std::exchange(peers_, {})) {
      auto side = side_in(*over);
      over->is_open[side] = false;
      if (!over->at[1 - side])
        over->orphans.clear(); // nobody's memory is left
      leave(over, in_.all_.between(1ms, loss_most));
      over->at[side] = nullptr;
    }
    alive_ = nullptr;
    for (auto& [id, one] : jobs)
      tell(*one, fault::closed);
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

private:
  /// As its thread would, unless it has been closed by then.
  void soon(nanoseconds span, std::function<void()> what) {
    auto home = home_.lock();
    if (home)
      home->hear_after(span, [weak = std::weak_ptr{alive_}, what = std::move(what)] {
        if (!weak.expired())
          what();
      });
  }

  /// It has not forgotten the other yet.
  bool has(const line& over) const {
    return over.at[0] == this || over.at[1] == this;
  }

  std::size_t side_in(const line& over) const {
    return over.at[0] == this ? 0 : 1;
  }

  void cannot_meet(peer_id who, loss why) {
    if (std::erase(connecting_, who) > 0)
      told_(who, {peer_state::lost, why});
  }

  void meet(peer_id who, end& there, const ticket& shown) {
    auto expected = there.expected_.find(shown.secret);
    if (expected == there.expected_.end())
      return cannot_meet(who, loss::turned_away);
    if (std::erase(connecting_, who) == 0)
      return;
    auto me = expected->second;
    there.expected_.erase(expected);
    auto over = std::make_shared<line>(line{{this, &there}, {who, me}});
    peers_[who] = over;
    there.peers_[me] = over;
    there.soon(0us, [&there, me] { there.told_(me, {peer_state::up}); });
    told_(who, {peer_state::up});
  }

  /// The other end learns that this one is gone.
  void leave(const std::shared_ptr<line>& over, nanoseconds span) {
    auto* there = over->at[1 - side_in(*over)];
    if (there)
      there->soon(span, [there, over] { there->lose(*over, loss::disconnected); });
  }

  void lose(line& over, loss why) {
    if (!has(over))
      return;
    auto side = side_in(over);
    if (!over.is_open[side])
      return;
    shut(over);
    end_all_of(over, fault::peer_lost);
    auto who = over.called[side];
    std::erase_if(known_, [&](const auto& one) { return one.second == who; });
    if (!over.is_leaving[side])
      told_(who, {peer_state::lost, why});
  }

  /// From now on the other does not reach our memory; until now it did.
  void shut(line& over) {
    for (const auto& one : std::exchange(over.orphans, {})) {
      one->gasp();
      ++in_.late_total_;
    }
    over.is_open[side_in(over)] = false;
  }

  // -- working ----------------------------------------------------------------

  /// Whether or not this process is stopped: see work().
  void work_after(nanoseconds span, const std::shared_ptr<job>& one) {
    in_.all_.after(span, [this, one] {
      if (!one->is_over)
        work(one);
    });
  }

  void work(const std::shared_ptr<job>& one) {
    auto& over = *one->over;
    auto* there = over.at[1 - one->here];
    if (!there || !over.is_open[1 - one->here]) {
      ++in_.fenced_total_;
      return finish(one, fault::peer_lost);
    }
    if (in_.by_ == mover::threads && (is_stopped() || there->is_stopped()))
      return wait(one);
    one->went_on = in_.all_.now();
    if (one->doom)
      return finish(one, one->doom);
    if (over.is_leaving[1 - one->here])
      ++in_.late_total_;
    one->run.turn(1 + in_.all_.below(part_bytes_most));
    switch (one->run.look()) {
      case move_run::state::done: return finish(one, std::nullopt);
      case move_run::state::starved: return finish(one, fault::starved);
      case move_run::state::waiting: return work_after(2ms, one);
      case move_run::state::ready: break;
    }
    work_after(in_.all_.between(20us, 3ms), one);
  }

  void wait(const std::shared_ptr<job>& one) {
    if (!is_stopped() && in_.all_.now() - one->went_on > silence_limit)
      lose(*one->over, loss::silent);
    else
      work_after(10ms, one);
  }

  bool is_stopped() const {
    auto home = home_.lock();
    return home && home->is_stopped();
  }

  /// Tells the outcome, once this process is awake.
  void finish(const std::shared_ptr<job>& one, std::optional<fault> why) {
    auto home = home_.lock();
    if (home)
      home->hear([this, one, why] { end_now(one, why); });
  }

  void end_now(const std::shared_ptr<job>& one, std::optional<fault> why) {
    if (std::exchange(one->is_over, true))
      return;
    jobs_.erase(one->id);
    in_.moves_total_ += why ? 0 : 1;
    tell(*one, why);
  }

  static void tell(job& one, std::optional<fault> why) {
    std::exchange(one.then, nullptr)(one.id, one.run.end(why));
  }

  void end_all_of(const line& over, fault why) {
    std::vector<std::shared_ptr<job>> theirs;
    for (const auto& [id, one] : jobs_)
      if (one->over.get() == &over)
        theirs.push_back(one);
    for (const auto& one : theirs)
      end_now(one, why);
  }

  payload_net& in_;
  const std::weak_ptr<process> home_;
  const segment_table& segments_;
  const on_peer told_;
  const std::uint64_t number_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  bool is_closed_ = false;
  std::map<std::array<std::byte, 32>, peer_id> expected_;
  std::vector<peer_id> connecting_;
  std::map<peer_id, std::shared_ptr<line>> peers_;
  std::map<segment_id, peer_id> known_;
  std::map<move_id, std::shared_ptr<job>> jobs_;
};

std::unique_ptr<peer_transport> payload_net::open(std::shared_ptr<process> home,
                                                  const segment_table& segments,
                                                  on_peer told) {
  return std::make_unique<end>(*this, std::move(home), segments, std::move(told));
}

} // namespace perigee::test
