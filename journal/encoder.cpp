#include "journal/encoder.hpp"

namespace perigee::journal {

encoder::encoder(const opening& about, std::size_t repeated_bytes_max)
  : node_(about.node), build_(about.build), about_(about),
    repeated_bytes_max_(repeated_bytes_max) {
  about_.node = node_;
  about_.build = build_;
}

void encoder::clear() {
  payload_.clear();
  moment_ = 0;
}

void encoder::begin_segment(std::uint64_t number) {
  strangers_.clear();
  types_.clear();
  actors_ = 0;
  for (auto& [tag, one] : introduced_)
    one.number = 0;
  put(kind::opening);
  out_.number(number);
  out_.fixed64(about_.life);
  out_.text(about_.node);
  out_.text(about_.build);
  out_.fixed64(about_.topology);
  out_.signed_number(about_.clock_offset);
  out_.byte(about_.is_redacted ? 1 : 0);
  put_moment(latest_);
  for (auto tag : repeated_tags_)
    introduced_.at(tag).number = ++actors_;
  out_.raw(repeated_);
}

void encoder::put(kind what) {
  out_.byte(static_cast<std::uint8_t>(what));
}

void encoder::put_moment(std::int64_t at) {
  out_.signed_number(at - moment_);
  moment_ = latest_ = at;
}

void encoder::put_trouble(const trouble& why) {
  out_.number(why.category);
  out_.number(why.code);
  out_.text(why.text);
}

void encoder::put_words(std::size_t words, bytes_view packed) {
  out_.number(words);
  out_.number(packed.size());
  out_.raw(packed);
}

std::uint64_t encoder::number_of_actor(std::uint64_t tag) {
  if (tag == 0)
    return 0;
  if (auto known = introduced_.find(tag); known != introduced_.end())
    if (known->second.number != 0)
      return known->second.number;
  auto [place, is_new] = strangers_.try_emplace(tag, actors_ + 1);
  if (is_new) {
    ++actors_;
    put(kind::stranger);
    out_.fixed64(tag);
  }
  return place->second;
}

std::uint64_t encoder::number_of_type(std::uint64_t type) {
  auto [place, is_new] = types_.try_emplace(type, types_.size() + 1);
  if (is_new) {
    put(kind::type);
    out_.fixed64(type);
  }
  return place->second;
}

/// Its moment is no difference, so that the same bytes serve in every segment.
void encoder::write(byte_writer to, const introduction& one) {
  to.byte(static_cast<std::uint8_t>(kind::introduction));
  to.byte(one.is_repeated ? 1 : 0);
  to.fixed64(one.tag);
  to.text(one.name);
  to.text(one.role);
  to.number(one.index);
  to.number(one.incarnation);
  to.fixed64(one.life);
  to.fixed64(one.seed);
  to.text(one.arguments);
  to.signed_number(one.at);
}

void encoder::add(const introduction& one) {
  write(out_, one);
  auto [place, is_new] = introduced_.try_emplace(one.tag);
  place->second.number = ++actors_;
  auto again = one;
  again.is_repeated = true;
  auto before = repeated_.size();
  write(byte_writer{repeated_}, again);
  if (!is_new || repeated_.size() > repeated_bytes_max_)
    repeated_.resize(before);
  else
    repeated_tags_.push_back(one.tag);
}

void encoder::add(const sending& one, std::size_t words, bytes_view packed) {
  auto by = number_of_actor(one.by);
  auto to = number_of_actor(one.to);
  auto sender = number_of_actor(one.what.sender);
  auto type = number_of_type(one.what.type);
  put(words > 0 ? kind::sending : kind::passing);
  out_.number(by);
  out_.number(to);
  out_.number(sender);
  out_.number(one.what.sequence);
  out_.number(type);
  out_.signed_number(one.delay);
  if (words > 0)
    put_words(words, packed);
}

void encoder::add(const taking& one, std::size_t words, bytes_view packed) {
  auto by = number_of_actor(one.by);
  auto sender = number_of_actor(one.what.sender);
  auto type = number_of_type(one.what.type);
  put(words > 0 ? kind::hearing : kind::taking);
  out_.number(by);
  out_.number(sender);
  out_.number(one.what.sequence);
  out_.number(type);
  put_moment(one.at);
  if (words > 0)
    put_words(words, packed);
}

void encoder::add(const absence& one) {
  auto by = number_of_actor(one.by);
  put(kind::absence);
  out_.number(by);
}

void encoder::add(const failing& one) {
  auto by = number_of_actor(one.by);
  put(kind::failing);
  out_.number(by);
  out_.fixed64(one.span);
  put_trouble(one.why);
}

void encoder::add(const missing& one) {
  auto by = number_of_actor(one.by);
  put(kind::missing);
  out_.number(by);
  out_.fixed64(one.span);
  put_moment(one.at);
  put_trouble(one.why);
}

void encoder::add(const losing& one) {
  auto by = number_of_actor(one.by);
  auto whom = number_of_actor(one.whom);
  put(kind::losing);
  out_.number(by);
  out_.number(whom);
  put_moment(one.at);
  put_trouble(one.why);
}

void encoder::add(const gap& one) {
  put(kind::gap);
  out_.number(one.records);
}

} // namespace perigee::journal
