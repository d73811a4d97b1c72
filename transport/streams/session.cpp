#include "transport/streams/session.hpp"

#include "schemas/assert.hpp"

namespace perigee::transport::streams {

session::session(event_loop& loop, peer_id who, peer_book& book,
                 const session_limits& limits, listeners told,
                 std::vector<std::shared_ptr<stream>> streams)
  : loop_(loop), who_(who), limits_(limits), told_(std::move(told)),
    server_(who, book) {
  for (auto& one : streams)
    links_.push_back(std::make_unique<link>(loop, std::move(one), *this));
}

session::~session() {
  PERIGEE_ASSERT(jobs_.empty(), "moves that nobody was told of");
  loop_.cancel(silence_);
}

// -- moves --------------------------------------------------------------------

void session::take(const job_ptr& one) {
  one->at = this;
  jobs_.emplace(one->id, one);
  line_up(one);
  carry_on();
}

void session::wake(const job_ptr& one) {
  if (!one->is_parked)
    return;
  one->is_parked = false;
  line_up(one);
  carry_on();
}

void session::doom(const job_ptr& one, fault why) {
  if (!one->doom)
    one->doom = why;
  settle(one);
}

void session::end_all(fault why) {
  is_lost_ = true;
  links_.clear();
  requests_.clear();
  while (!jobs_.empty()) {
    auto one = jobs_.extract(jobs_.begin()).mapped();
    one->at = nullptr;
    told_.on_end(one, why);
  }
}

/// Puts it where it belongs, by what it can do next.
void session::line_up(const job_ptr& one) {
  switch (one->run.look()) {
    case peer_move::state::ready: ready_.push(one->run.what().urgency, one); break;
    case peer_move::state::waiting: one->is_parked = true; break;
    case peer_move::state::starved: doom(one, fault::starved); break;
    case peer_move::state::at_end: settle(one); break;
  }
}

void session::carry_on() {
  while (!is_lost_) {
    auto* free = link_with_room();
    auto next = free ? ready_.pop() : std::nullopt;
    if (!next)
      break;
    if (!(*next)->doom) {
      issue(*next, *free);
      line_up(*next);
    }
  }
  for (auto& one : links_)
    one->flush();
  watch_for_silence();
}

/// The one that owes least, if there is one where more may be asked for.
link* session::link_with_room() {
  auto least = std::ranges::min_element(
    links_, {}, [](const auto& one) { return one->asked_bytes; });
  if (least == links_.end() || (*least)->asked_bytes >= limits_.window_bytes
      || (*least)->asked_requests >= requests_max)
    return nullptr;
  return least->get();
}

void session::issue(const job_ptr& one, link& over) {
  auto number = ++requests_total_;
  auto next = one->run.next(limits_.request_bytes, slices_max);
  frame said{.kind = one->is_write ? frame_kind::put : frame_kind::get,
             .number = number,
             .from = one->run.what().from,
             .to = one->run.what().to,
             .slices = next.slices};
  parcel made{.head = write(said)};
  if (one->is_write)
    for (const auto& part : next.slices)
      made.payload.add(one->here.base + part.from, part.bytes);
  made.keep_alive = one->here.keep_alive;
  over.asked_bytes += next.bytes;
  ++over.asked_requests;
  over.ask(std::move(made));
  requests_.emplace(number, request{one, std::move(next), &over});
}

/// Ends it, if there is nothing to wait for any more.
void session::settle(const job_ptr& one) {
  if (one->at != this || one->run.is_under_way())
    return;
  if (!one->doom && one->run.look() != peer_move::state::at_end)
    return;
  jobs_.erase(one->id);
  one->at = nullptr;
  told_.on_end(one, one->doom);
}

// -- answers ------------------------------------------------------------------

result<sink, loss> session::on_frame(link& from, frame what) {
  switch (what.kind) {
    case frame_kind::data:
    case frame_kind::done:
    case frame_kind::refused: return on_answer(from, what);
    default: return server_.serve(from, std::move(what));
  }
}

result<sink, loss> session::on_answer(link& from, const frame& what) {
  auto at = requests_.find(what.number);
  if (at == requests_.end() || at->second.over != &from)
    return failure(loss::unsound);
  auto one = std::move(at->second);
  auto good = one.whose->is_write ? frame_kind::done : frame_kind::data;
  if (what.kind != good && what.kind != frame_kind::refused)
    return failure(loss::unsound);
  requests_.erase(at);
  from.asked_bytes -= one.what.bytes;
  --from.asked_requests;
  if (what.kind == frame_kind::refused)
    return sink{.then = [this, one] {
      one.whose->run.missed(one.what);
      doom(one.whose, fault::refused);
    }};
  sink made{.then = [this, one] {
    one.whose->run.landed(one.what);
    settle(one.whose);
  }};
  if (!one.whose->is_write)
    for (const auto& part : one.what.slices)
      made.payload.add(one.whose->here.base + part.to, part.bytes);
  made.keep_alive = one.whose->here.keep_alive;
  return made;
}

void session::on_rest() {
  carry_on();
}

// -- loss ---------------------------------------------------------------------

void session::on_loss(loss why) {
  if (std::exchange(is_lost_, true))
    return;
  loop_.post([told = told_.on_loss, who = who_, why] { told(who, why); });
}

bool session::is_owed() const {
  return !requests_.empty() || std::ranges::any_of(links_, [](const auto& one) {
    return one->has_waiting();
  });
}

void session::on_progress() {
  heard_at_ = std::chrono::steady_clock::now();
}

void session::watch_for_silence() {
  if (silence_ != 0 || is_lost_ || !is_owed())
    return;
  on_progress(); // from now on it owes something
  silence_
    = loop_.at(heard_at_ + limits_.silence_limit, [this] { look_for_silence(); });
}

void session::look_for_silence() {
  silence_ = 0;
  if (is_lost_ || !is_owed())
    return;
  auto until = heard_at_ + limits_.silence_limit;
  if (until <= std::chrono::steady_clock::now())
    on_loss(loss::silent);
  else
    silence_ = loop_.at(until, [this] { look_for_silence(); });
}

} // namespace perigee::transport::streams
