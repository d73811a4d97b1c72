#include "transport/streams/session.hpp"

#include "schemas/assert.hpp"

namespace perigee::transport::streams {

namespace {

/// What is copied here before somebody else has a turn.
constexpr std::uint64_t turn_bytes = std::uint64_t{1} << 20;

} // namespace

session::session(event_loop& loop, peer_id who, peer_book& book,
                 const session_limits& limits, peer_views views, contention& all,
                 listeners told, std::vector<std::shared_ptr<stream>> streams)
  : loop_(loop), who_(who), limits_(limits), told_(std::move(told)),
    views_(std::move(views)), server_(who, book, views_), all_(all), turns_(all) {
  for (auto& one : streams)
    links_.push_back(std::make_unique<link>(loop, std::move(one), *this));
}

session::~session() {
  PERIGEE_ASSERT(jobs_.empty(), "moves that nobody was told of");
  loop_.cancel(silence_);
  loop_.cancel(turn_);
  loop_.cancel(free_);
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
    count(*one, false);
    told_.on_end(one, why);
  }
}

void session::set_rates(const rates& most) {
  turns_.set_rates(most);
  carry_on();
}

/// Puts it where it belongs, by what it can do next.
void session::line_up(const job_ptr& one) {
  switch (one->run.look()) {
    case peer_move::state::ready:
      count(*one, true);
      ready_.push(one->urgency, one);
      break;
    case peer_move::state::waiting:
      one->is_parked = true;
      count(*one, false);
      break;
    case peer_move::state::starved: doom(one, fault::starved); break;
    case peer_move::state::at_end: settle(one); break;
  }
}

void session::carry_on() {
  while (!is_lost_ && copied_bytes_ < turn_bytes) {
    auto* free = link_with_room();
    auto next = free ? next_ready() : std::nullopt;
    if (!next)
      break;
    if (!(*next)->doom)
      issue(*next, *free);
  }
  for (auto& one : links_)
    one->flush();
  wake_in_time();
  watch_for_silence();
}

/// Whose turn it is.
std::optional<job_ptr> session::next_ready() {
  return ready_.pop_if([this](const job_ptr& one) {
    return one->doom || turns_.may_go(*one, std::chrono::steady_clock::now());
  });
}

/// For those that would have been too fast.
void session::wake_in_time() {
  auto when = turns_.wakes_at();
  if (!when || (free_ != 0 && free_at_ <= *when))
    return;
  loop_.cancel(free_);
  free_at_ = *when;
  free_ = loop_.at(*when, [this] {
    free_ = 0;
    turns_.take_wake(std::chrono::steady_clock::now());
    carry_on();
  });
}

void session::count(job& one, bool wants) {
  turns_.count(one, wants);
  if (all_.take_eased())
    told_.on_eased();
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
  if (!views_.by())
    send_piece(one, over);
  else if (one->is_write)
    show_piece(one, over);
  else if (const auto* source = views_.find(one->run.what().from))
    copy_piece(one, *source);
  else
    ask_to_see(one, over);
}

std::uint64_t session::expect_answer(request what) {
  what.over->asked_bytes += what.what.bytes;
  ++what.over->asked_requests;
  turns_.went(*what.whose, what.what.bytes, std::chrono::steady_clock::now());
  requests_.emplace(++requests_total_, std::move(what));
  return requests_total_;
}

/// A write with its bytes, or a read that they come back for.
void session::send_piece(const job_ptr& one, link& over) {
  auto next
    = one->run.next(turns_.piece_bytes(*one, limits_.request_bytes), slices_max);
  frame said{.kind = one->is_write ? frame_kind::put : frame_kind::get,
             .from = one->run.what().from,
             .to = one->run.what().to,
             .slices = next.slices};
  said.number = expect_answer({one, std::move(next), &over});
  parcel made{.head = write(said), .keep_alive = one->here.keep_alive};
  if (one->is_write)
    for (const auto& part : said.slices)
      made.payload.add(one->here.base + part.from, part.bytes);
  over.ask(std::move(made));
  line_up(one);
}

/// A write that the peer carries out, out of memory that it can see.
void session::show_piece(const job_ptr& one, link& over) {
  if (!shown_.contains(one->here.id)) {
    auto place = views_.by()->find(one->here);
    if (!place)
      return doom(one, fault::gone); // submit() has seen it
    over.ask(showing(one->here, *place));
    shown_.insert(one->here.id);
  }
  auto next
    = one->run.next(turns_.piece_bytes(*one, limits_.request_bytes), slices_max);
  frame said{.kind = frame_kind::copy,
             .from = one->run.what().from,
             .to = one->run.what().to,
             .slices = next.slices};
  said.number = expect_answer({one, std::move(next), &over});
  over.ask({.head = write(said), .keep_alive = one->here.keep_alive});
  line_up(one);
}

/// A read, before the peer has shown what it is to be read from.
void session::ask_to_see(const job_ptr& one, link& over) {
  frame said{.kind = frame_kind::ask, .from = one->run.what().from};
  said.number = expect_answer({one, {}, &over, true});
  over.ask({.head = write(said)});
}

/// A read out of memory that is seen here.
void session::copy_piece(const job_ptr& one, const peer_views::view& source) {
  auto next
    = one->run.next(turns_.piece_bytes(*one, limits_.request_bytes), slices_max);
  for (const auto& part : next.slices)
    views_.by()->copy(one->here.base + part.to, source.begin.get() + part.from,
                      part.bytes);
  turns_.went(*one, next.bytes, std::chrono::steady_clock::now());
  copied_.push_back(one->urgency);
  copied_bytes_ += next.bytes;
  one->run.landed(next);
  line_up(one);
  pass_turn();
}

/// What was copied is under way until all others have had a turn: so it yields to what is
/// more urgent, as requests do.
void session::pass_turn() {
  if (turn_ != 0)
    return;
  turn_ = loop_.at(std::chrono::steady_clock::now(), [this] {
    turn_ = 0;
    copied_bytes_ = 0;
    for (auto urgency : std::exchange(copied_, {}))
      turns_.came_back(urgency);
    carry_on();
  });
}

/// Ends it, if there is nothing to wait for any more.
void session::settle(const job_ptr& one) {
  if (one->at != this || one->run.is_under_way())
    return;
  if (!one->doom && one->run.look() != peer_move::state::at_end)
    return;
  jobs_.erase(one->id);
  one->at = nullptr;
  count(*one, false);
  told_.on_end(one, one->doom);
}

// -- answers ------------------------------------------------------------------

result<sink, loss> session::on_frame(link& from, frame what) {
  switch (what.kind) {
    case frame_kind::data:
    case frame_kind::done:
    case frame_kind::refused: return on_answer(from, what);
    case frame_kind::show:
      if (what.number != 0)
        return on_answer(from, what);
      [[fallthrough]];
    default: return server_.serve(from, std::move(what));
  }
}

result<sink, loss> session::on_answer(link& from, const frame& what) {
  auto at = requests_.find(what.number);
  if (at == requests_.end() || at->second.over != &from)
    return failure(loss::unsound);
  auto asked = requests_.extract(at).mapped();
  from.asked_bytes -= asked.what.bytes;
  --from.asked_requests;
  turns_.came_back(asked.whose->urgency);
  if (asked.is_ask)
    return on_shown(from, asked, what);
  return on_piece(asked, what);
}

result<sink, loss> session::on_shown(link& from, const request& asked,
                                     const frame& what) {
  auto shown = from.take_file();
  if (what.kind == frame_kind::refused) {
    doom(asked.whose, fault::refused);
    return sink{};
  }
  if (what.kind != frame_kind::show || what.from != asked.whose->run.what().from
      || !shown)
    return failure(loss::unsound);
  const auto& where = what.slices.front();
  if (where.bytes != asked.whose->there_bytes
      || !views_.add(what.from, *shown, where.from, where.bytes))
    doom(asked.whose, fault::refused);
  else if (asked.whose->at)
    line_up(asked.whose);
  return sink{};
}

result<sink, loss> session::on_piece(const request& asked, const frame& what) {
  bool is_read = !asked.whose->is_write;
  if (what.kind == frame_kind::refused)
    return sink{.then = [this, asked] {
      asked.whose->run.missed(asked.what);
      doom(asked.whose, fault::refused);
    }};
  if (what.kind != (is_read ? frame_kind::data : frame_kind::done))
    return failure(loss::unsound);
  sink made{.keep_alive = asked.whose->here.keep_alive, .then = [this, asked] {
              asked.whose->run.landed(asked.what);
              settle(asked.whose);
            }};
  if (is_read)
    for (const auto& part : asked.what.slices)
      made.payload.add(asked.whose->here.base + part.to, part.bytes);
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
