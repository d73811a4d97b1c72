#include "transport/streams/stream_transport.hpp"

#include "schemas/assert.hpp"

#include <csignal>

namespace perigee::transport::streams {

/// What the thread and the callers share.
class stream_transport::hub : public std::enable_shared_from_this<hub> {
public:
  hub(const segment_table& segments, std::unique_ptr<event_loop> loop,
      std::unique_ptr<port> way, const stream_limits& limits, on_peer told,
      std::shared_ptr<const shared_memory> shared);

  result<void, fault> submit(move_id id, move what, on_done then);
  void abort(move_id id, fault why);
  void close();
  statistics counted() const;

  result<void, fault> expect(peer_id who, const ticket& shown,
                             std::chrono::nanoseconds for_how_long);
  result<void, fault> connect(peer_id who, const endpoint& where, const ticket& shown);
  void set_rates(peer_id who, const rates& most);
  result<descriptor, fault> describe(segment_id which);
  void forget(peer_id who);

  void run();

  const port& way() const {
    return reception_.way();
  }

  peer_book& book() {
    return book_;
  }

  std::uint64_t strangers_total() const {
    return reception_.strangers_total();
  }

private:
  result<job_ptr, fault> judge(move_id id, move what, on_done then);
  tl::unexpected<fault> refuse(peer_id whom, fault why);
  bool can_show(const segment& what) const {
    return !shared_ || shared_->find(what);
  }

  result<void, fault> add(peer_id who, event_loop::task begin);

  // -- in the thread -----------------------------------------------------------------

  void start(const job_ptr& one);
  void watch_gate(const job_ptr& one);
  void end(const job_ptr& one, std::optional<fault> why);
  void doom(move_id id, fault why);
  void on_up(peer_id who, std::vector<std::shared_ptr<stream>> streams);
  void on_loss(peer_id who, loss why);
  void ease_others();
  void end_session(peer_id who, fault why);
  void forget_now(peer_id who);
  void close_now();

  const segment_table& segments_;
  const stream_limits limits_;
  const on_peer told_;
  const std::shared_ptr<const shared_memory> shared_;
  const std::unique_ptr<event_loop> loop_;
  peer_book book_;
  reception reception_;
  std::map<peer_id, rates> rates_; // of those that have any
  contention wants_;
  bool is_easing_ = false; // is posted
  std::map<peer_id, std::unique_ptr<session>> sessions_;

  mutable std::mutex mutex_; // guards what follows
  std::map<move_id, job_ptr> jobs_;
  tally tally_;
  bool closed_ = false;
};

stream_transport::hub::hub(const segment_table& segments,
                           std::unique_ptr<event_loop> loop, std::unique_ptr<port> way,
                           const stream_limits& limits, on_peer told,
                           std::shared_ptr<const shared_memory> shared)
  : segments_(segments), limits_(limits), told_(std::move(told)),
    shared_(std::move(shared)), loop_(std::move(loop)), book_(segments, limits.book),
    reception_(*loop_, std::move(way), limits.reception,
               {.on_up = [this](peer_id who, auto all) { on_up(who, std::move(all)); },
                .on_loss = [this](peer_id who, loss why) { on_loss(who, why); }}) {}

// -- for the callers ----------------------------------------------------------

result<job_ptr, fault> stream_transport::hub::judge(move_id id, move what,
                                                    on_done then) {
  auto from = segments_.find(what.from), to = segments_.find(what.to);
  bool is_write = from && !to;
  auto here = is_write ? from : to;
  auto there = book_.find(is_write ? what.to : what.from);
  if ((from && to) || !here || !here->base || !there)
    return refuse({}, fault::gone);
  if (!there->is_up)
    return refuse(there->whose, fault::peer_lost);
  if (!fits(what, is_write ? *here : there->what, is_write ? there->what : *here))
    return refuse(there->whose, fault::out_of_range);
  if (is_write && !can_show(*here))
    return refuse(there->whose, fault::refused);
  return std::make_shared<job>(id, std::move(what), std::move(*here), there->what,
                               there->whose, is_write, std::move(then));
}

tl::unexpected<fault> stream_transport::hub::refuse(peer_id whom, fault why) {
  book_.missed(whom, why);
  std::lock_guard held{mutex_};
  return tally_.refused(why);
}

result<void, fault> stream_transport::hub::submit(move_id id, move what, on_done then) {
  auto one = judge(id, std::move(what), std::move(then));
  if (!one)
    return failure(one.error());
  std::unique_lock held{mutex_};
  PERIGEE_ASSERT(!jobs_.contains(id), "two moves of one number");
  if (auto busy = jobs_.size() >= limits_.outstanding_max; closed_ || busy) {
    held.unlock();
    return refuse((*one)->peer, closed_ ? fault::closed : fault::busy);
  }
  jobs_.emplace(id, *one);
  book_.began((*one)->peer);
  loop_->post([this, started = *one] { start(started); });
  return {};
}

void stream_transport::hub::abort(move_id id, fault why) {
  std::lock_guard held{mutex_};
  if (jobs_.contains(id))
    loop_->post([this, id, why] { doom(id, why); });
}

void stream_transport::hub::close() {
  std::lock_guard held{mutex_};
  if (std::exchange(closed_, true))
    return;
  loop_->post([this] { close_now(); });
  loop_->stop();
}

statistics stream_transport::hub::counted() const {
  std::lock_guard held{mutex_};
  return tally_.read(jobs_.size());
}

result<void, fault> stream_transport::hub::add(peer_id who, event_loop::task begin) {
  std::lock_guard held{mutex_};
  if (closed_)
    return failure(fault::closed);
  if (auto added = book_.add(who); !added)
    return added;
  loop_->post(std::move(begin));
  return {};
}

result<void, fault>
stream_transport::hub::expect(peer_id who, const ticket& shown,
                              std::chrono::nanoseconds for_how_long) {
  return add(who, [this, who, shown, until = after(for_how_long)] {
    reception_.expect(who, shown, until);
  });
}

result<void, fault> stream_transport::hub::connect(peer_id who, const endpoint& where,
                                                   const ticket& shown) {
  if (where.size() > opaque_bytes_max || !way().allows(where))
    return failure(fault::refused);
  return add(who, [this, who, where, shown] { reception_.connect(who, where, shown); });
}

void stream_transport::hub::set_rates(peer_id who, const rates& most) {
  loop_->post([this, who, most] {
    if (!book_.counted_of(who))
      return;
    rates_[who] = most;
    if (auto at = sessions_.find(who); at != sessions_.end())
      at->second->set_rates(most);
  });
}

result<descriptor, fault> stream_transport::hub::describe(segment_id which) {
  auto found = segments_.find(which);
  if (!found)
    return failure(fault::gone);
  if (!found->base || !can_show(*found))
    return failure(fault::refused);
  if (auto shown = book_.show(which); !shown)
    return failure(shown.error());
  return describe_segment(*found);
}

void stream_transport::hub::forget(peer_id who) {
  loop_->post([this, who] { forget_now(who); });
}

// -- moves, in the thread -----------------------------------------------------

void stream_transport::hub::run() {
  sigset_t all;
  sigfillset(&all); // they are for others; and a broken connection is no signal
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  loop_->run();
}

void stream_transport::hub::start(const job_ptr& one) {
  auto at = sessions_.find(one->peer);
  if (at == sessions_.end())
    return end(one, fault::peer_lost);
  watch_gate(one);
  one->limit
    = loop_->at(one->deadline, [this, id = one->id] { doom(id, fault::timed_out); });
  at->second->take(one);
}

void stream_transport::hub::watch_gate(const job_ptr& one) {
  const auto& gate = one->run.what().wait_for;
  if (!gate)
    return;
  one->gate_watch = gate->watch([me = weak_from_this(), weak = std::weak_ptr{one}] {
    auto held_by = me.lock();
    auto woken = weak.lock();
    if (!held_by || !woken || woken->is_woken.exchange(true))
      return;
    held_by->loop_->post([woken] {
      woken->is_woken = false;
      if (woken->at)
        woken->at->wake(woken);
    });
  });
}

void stream_transport::hub::end(const job_ptr& one, std::optional<fault> why) {
  loop_->cancel(one->limit);
  if (const auto& gate = one->run.what().wait_for)
    gate->unwatch(one->gate_watch);
  auto came = one->run.end(why);
  book_.ended(one->peer, came);
  {
    std::lock_guard held{mutex_};
    jobs_.erase(one->id);
    tally_.ended(came);
  }
  one->then(one->id, came);
}

void stream_transport::hub::doom(move_id id, fault why) {
  job_ptr one;
  {
    std::lock_guard held{mutex_};
    if (auto at = jobs_.find(id); at != jobs_.end())
      one = at->second;
  }
  if (one && one->at)
    one->at->doom(one, why);
}

// -- peers, in the thread -----------------------------------------------------

void stream_transport::hub::on_up(peer_id who,
                                  std::vector<std::shared_ptr<stream>> streams) {
  sessions_[who] = std::make_unique<session>(
    *loop_, who, book_, limits_.session,
    peer_views{shared_.get(), limits_.book.segments_max}, wants_,
    session::listeners{.on_end
                       = [this](const job_ptr& one, auto why) { end(one, why); },
                       .on_loss =
                         [this](peer_id lost, loss why) {
                           if (sessions_.contains(lost)) // not forgotten meanwhile
                             on_loss(lost, why);
                         },
                       .on_eased =
                         [this] {
                           if (sessions_.size() > 1)
                             ease_others();
                         }},
    std::move(streams));
  if (auto at = rates_.find(who); at != rates_.end())
    sessions_.at(who)->set_rates(at->second);
  book_.set_state(who, peer_state::up);
  told_(who, {peer_state::up});
}

void stream_transport::hub::ease_others() {
  if (sessions_.empty() || std::exchange(is_easing_, true))
    return;
  loop_->post([this] {
    is_easing_ = false;
    for (const auto& [who, one] : sessions_)
      one->carry_on();
  });
}

void stream_transport::hub::on_loss(peer_id who, loss why) {
  book_.set_state(who, peer_state::lost);
  end_session(who, fault::peer_lost);
  told_(who, {peer_state::lost, why});
}

void stream_transport::hub::end_session(peer_id who, fault why) {
  if (auto at = sessions_.extract(who); !at.empty())
    at.mapped()->end_all(why);
  ease_others();
}

void stream_transport::hub::forget_now(peer_id who) {
  book_.set_state(who, peer_state::lost);
  reception_.forget(who);
  end_session(who, fault::peer_lost);
  rates_.erase(who);
  book_.erase(who);
  told_(who, {peer_state::forgotten});
}

void stream_transport::hub::close_now() {
  reception_.close();
  while (!sessions_.empty())
    end_session(sessions_.begin()->first, fault::closed);
}

// -- stream_transport ---------------------------------------------------------

stream_transport::stream_transport(const segment_table& segments,
                                   std::unique_ptr<event_loop> loop,
                                   std::unique_ptr<port> way,
                                   const stream_limits& limits, on_peer told,
                                   std::shared_ptr<const shared_memory> shared)
  : hub_(std::make_shared<hub>(segments, std::move(loop), std::move(way), limits,
                               std::move(told), std::move(shared))),
    thread_([this] { hub_->run(); }) {}

stream_transport::~stream_transport() {
  stream_transport::close();
}

result<void, fault> stream_transport::submit(move_id id, move what, on_done then) {
  return hub_->submit(id, std::move(what), std::move(then));
}

void stream_transport::abort(move_id id, fault why) {
  hub_->abort(id, why);
}

void stream_transport::close() {
  hub_->close();
  if (thread_.joinable())
    thread_.join();
}

statistics stream_transport::counted() const {
  return hub_->counted();
}

endpoint stream_transport::here() const {
  return hub_->way().here();
}

result<void, fault> stream_transport::expect(peer_id who, const ticket& shown,
                                             std::chrono::nanoseconds for_how_long) {
  return hub_->expect(who, shown, for_how_long);
}

result<void, fault> stream_transport::connect(peer_id who, const endpoint& where,
                                              const ticket& shown) {
  return hub_->connect(who, where, shown);
}

void stream_transport::set_rates(peer_id who, const rates& most) {
  hub_->set_rates(who, most);
}

result<descriptor, fault> stream_transport::describe(segment_id which) {
  return hub_->describe(which);
}

result<void, fault> stream_transport::learn(peer_id who, const descriptor& what) {
  return hub_->book().learn(who, what);
}

void stream_transport::forget(peer_id who) {
  hub_->forget(who);
}

std::optional<peer_statistics> stream_transport::counted_of(peer_id who) const {
  return hub_->book().counted_of(who);
}

std::uint64_t stream_transport::strangers_total() const {
  return hub_->strangers_total();
}

} // namespace perigee::transport::streams
