#include "actors/conductor/shard_feed.hpp"

namespace perigee::conductor {

verdict shard_feed::on_news(std::uint64_t number, moment now) {
  switch (state_) {
    case state::following:
      if (number <= number_)
        return verdict::ignore;
      if (number > number_ + 1)
        return ask(now);
      number_ = number;
      return verdict::apply;
    case state::collecting:
      return ask(now); // a recount is told in one go: its rest will not come
    case state::waiting: break;
  }
  return now - asked_at_ < patience_ ? verdict::ignore : ask(now);
}

verdict shard_feed::on_recount(std::uint64_t number, std::uint32_t part, bool last,
                               moment now) {
  if (state_ == state::following)
    return verdict::ignore; // of one that was asked for before the one that came
  bool begins = part == 0;
  if (!begins && state_ == state::waiting)
    return verdict::ignore; // the rest of one that was given up
  if (!begins && (number != number_ || part != next_part_))
    return ask(now);
  number_ = number;
  next_part_ = part + 1;
  state_ = last ? state::following : state::collecting;
  if (last)
    asked_again_ = 0;
  return begins ? verdict::replace : verdict::apply;
}

verdict shard_feed::on_late(moment now) {
  if (state_ == state::following || asked_again_ >= asked_again_max)
    return verdict::ignore;
  ++asked_again_;
  return ask(now);
}

verdict shard_feed::ask(moment now) {
  state_ = state::waiting;
  asked_at_ = now;
  return verdict::recount;
}

} // namespace perigee::conductor
