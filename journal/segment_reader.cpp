#include "journal/segment_reader.hpp"

#include "journal/format.hpp"
#include "journal/packing.hpp"

#include <xxhash.h>

#include <algorithm>

namespace perigee::journal {
namespace {

std::size_t read_some(std::istream& from, std::span<std::byte> to) {
  from.read(reinterpret_cast<char*>(to.data()),
            static_cast<std::streamsize>(to.size()));
  return static_cast<std::size_t>(from.gcount());
}

} // namespace

std::string to_string(const complaint& wrong) {
  return wrong.file + ": at byte " + std::to_string(wrong.offset) + ": " + wrong.what;
}

segment_reader::segment_reader(std::istream& from, std::string file)
  : from_(from), file_(std::move(file)) {}

complaint segment_reader::wrong(std::uint64_t at, std::string what) const {
  return {file_, at, std::move(what)};
}

std::optional<complaint> segment_reader::read_head() {
  std::array<std::byte, segment_head_bytes> head{};
  auto size = read_some(from_, head);
  offset_ = size;
  auto begin = std::as_bytes(std::span{magic});
  if (size < begin.size() || !std::equal(begin.begin(), begin.end(), head.begin()))
    return size == 0 ? wrong(0, "an empty file") : wrong(0, "this is no journal");
  if (size < head.size())
    return wrong(0, "shorter than a segment's head");
  auto found = byte_reader{bytes_view{head}.subspan(begin.size())}.fixed32();
  if (found != version)
    return wrong(begin.size(), "a journal of version " + std::to_string(found)
                                 + ": expected " + std::to_string(version));
  return std::nullopt;
}

/// As after a machine that stopped: the file has its length, but not its bytes.
bool segment_reader::is_rest_empty() {
  std::array<std::byte, 4096> part{};
  while (auto size = read_some(from_, part))
    if (std::any_of(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(size),
                    [](auto x) { return x != std::byte{0}; }))
      return false;
  return true;
}

result<bool, complaint> segment_reader::end_torn(std::uint64_t at, std::string what) {
  torn_ = wrong(at, std::move(what) + ": its end is torn, and skipped");
  return false;
}

/// False at the end.
result<bool, complaint> segment_reader::read_frame() {
  auto at = frame_offset_ = offset_;
  std::array<std::byte, frame_head_bytes> head{};
  auto got = read_some(from_, head);
  if (got == 0)
    return false;
  if (got < head.size())
    return end_torn(at, "a frame's head is not whole");
  byte_reader fields{head};
  std::size_t size = fields.fixed32();
  auto reserved = fields.fixed32();
  auto hash = fields.fixed64();
  if (size == 0 && reserved == 0 && hash == 0 && is_rest_empty())
    return end_torn(at, "nothing but zeros");
  if (size == 0 || size > frame_bytes_max || reserved != 0)
    return failure(wrong(at, "this is no frame"));
  frame_.resize(size);
  got = read_some(from_, frame_);
  if (got < size)
    return end_torn(at, "a frame is not whole");
  offset_ += head.size() + size;
  if (XXH3_64bits_withSeed(frame_.data(), size, at) != hash) {
    if (is_rest_empty())
      return end_torn(at, "the last frame's checksum is wrong");
    return failure(wrong(at, "a frame whose checksum is wrong"));
  }
  rest_ = byte_reader{frame_};
  moment_ = 0;
  return true;
}

auto segment_reader::next() -> outcome {
  if (is_done_)
    return nullptr;
  auto stop = [&](complaint why) -> outcome {
    is_done_ = true;
    return failure(std::move(why));
  };
  if (offset_ == 0)
    if (auto bad = read_head())
      return stop(std::move(*bad));
  for (;;) {
    while (rest_.is_at_end()) {
      auto got = read_frame();
      if (!got)
        return stop(got.error());
      if (!*got) {
        is_done_ = true;
        return nullptr;
      }
    }
    auto before = rest_.left();
    auto found = decode();
    bool is_whole = rest_.ok() && is_sound_;
    if (is_whole && found) {
      record_ = *found;
      return &record_;
    }
    if (!is_whole)
      return stop(wrong(frame_offset_ + frame_head_bytes + (frame_.size() - before),
                        "this is no record"));
  }
}

/// Nothing if it was only a number for what comes; or if it is not sound.
std::optional<record> segment_reader::decode() {
  auto what = static_cast<kind>(rest_.byte());
  if (!is_open_ && what != kind::opening) {
    is_sound_ = false;
    return std::nullopt;
  }
  switch (what) {
    case kind::opening: return decode_opening();
    case kind::introduction: return decode_introduction();
    case kind::stranger: actors_.push_back(rest_.fixed64()); return std::nullopt;
    case kind::type: types_.push_back(rest_.fixed64()); return std::nullopt;
    case kind::sending: return decode_sending(true);
    case kind::passing: return decode_sending(false);
    case kind::taking: return decode_taking(false);
    case kind::hearing: return decode_taking(true);
    case kind::absence: return absence{actor()};
    case kind::failing: {
      auto by = actor();
      auto span = rest_.fixed64();
      return failing{by, span, decode_trouble()};
    }
    case kind::missing: {
      auto by = actor();
      auto span = rest_.fixed64();
      auto at = moment();
      return missing{by, span, at, decode_trouble()};
    }
    case kind::losing: {
      auto by = actor();
      auto whom = actor();
      auto at = moment();
      return losing{by, whom, at, decode_trouble()};
    }
    case kind::gap: return gap{rest_.number()};
  }
  is_sound_ = false;
  return std::nullopt;
}

/// One in a segment, at its beginning.
std::optional<record> segment_reader::decode_opening() {
  is_sound_ = !std::exchange(is_open_, true);
  opening one;
  one.segment = rest_.number();
  one.life = rest_.fixed64();
  one.node = rest_.text();
  one.build = rest_.text();
  one.topology = rest_.fixed64();
  one.clock_offset = rest_.signed_number();
  one.is_redacted = rest_.byte() != 0;
  one.at = moment();
  return one;
}

record segment_reader::decode_introduction() {
  introduction one;
  one.is_repeated = rest_.byte() != 0;
  one.tag = rest_.fixed64();
  one.name = rest_.text();
  one.role = rest_.text();
  one.index = static_cast<std::uint32_t>(rest_.number());
  one.incarnation = static_cast<std::uint32_t>(rest_.number());
  one.life = rest_.fixed64();
  one.seed = rest_.fixed64();
  one.arguments = rest_.text();
  one.at = rest_.signed_number();
  actors_.push_back(one.tag);
  return one;
}

record segment_reader::decode_sending(bool with_words) {
  sending one;
  one.by = actor();
  one.to = actor();
  one.what.sender = actor();
  one.what.sequence = rest_.number();
  one.what.type = type();
  one.delay = rest_.signed_number();
  if (with_words)
    one.what.words = decode_words();
  return one;
}

record segment_reader::decode_taking(bool with_words) {
  taking one;
  one.by = actor();
  one.what.sender = actor();
  one.what.sequence = rest_.number();
  one.what.type = type();
  one.at = moment();
  if (with_words)
    one.what.words = decode_words();
  return one;
}

words_view segment_reader::decode_words() {
  auto count = rest_.number();
  auto packed = rest_.raw(rest_.number());
  // A packed word has a byte at least, but a run of zeros two for 256.
  if (count == 0 || count > message_words_max || count > 256 * packed.size()) {
    is_sound_ = false;
    return {};
  }
  words_.resize(static_cast<std::size_t>(count));
  is_sound_ = is_sound_ && unpack(packed, words_);
  return words_;
}

trouble segment_reader::decode_trouble() {
  trouble why;
  why.category = rest_.number();
  why.code = rest_.number();
  why.text = rest_.text();
  return why;
}

std::uint64_t segment_reader::actor() {
  auto number = rest_.number();
  if (number == 0)
    return 0;
  if (number > actors_.size()) {
    is_sound_ = false;
    return 0;
  }
  return actors_[static_cast<std::size_t>(number - 1)];
}

std::uint64_t segment_reader::type() {
  auto number = rest_.number();
  if (number == 0 || number > types_.size()) {
    is_sound_ = false;
    return 0;
  }
  return types_[static_cast<std::size_t>(number - 1)];
}

/// Wraps around, as a difference read from anywhere may.
std::int64_t segment_reader::moment() {
  auto sum = static_cast<std::uint64_t>(moment_)
             + static_cast<std::uint64_t>(rest_.signed_number());
  return moment_ = static_cast<std::int64_t>(sum);
}

} // namespace perigee::journal
