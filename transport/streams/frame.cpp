#include "transport/streams/frame.hpp"

#include "transport/streams/little_endian.hpp"

#include <cstring>
#include <limits>

namespace perigee::transport::streams {

namespace {

constexpr std::array<char, 8> hello_magic{'p', 'e', 'r', 'i', 'g', 'e', 'e', '>'};
constexpr std::array<char, 8> welcome_magic{'p', 'e', 'r', 'i', 'g', 'e', 'e', '<'};
constexpr std::size_t head_bytes = 32;
constexpr std::size_t slice_bytes = 24;

bool begins_with(std::span<const std::byte> from, const std::array<char, 8>& magic) {
  return std::memcmp(from.data(), magic.data(), magic.size()) == 0;
}

} // namespace

// -- greetings ----------------------------------------------------------------

std::array<std::byte, hello::bytes> write(const hello& what) {
  std::array<std::byte, hello::bytes> made{};
  std::memcpy(made.data(), hello_magic.data(), hello_magic.size());
  put16(&made[8], protocol_version);
  made[10] = std::byte{what.index};
  made[11] = std::byte{what.count};
  std::memcpy(&made[16], what.shown.secret.data(), what.shown.secret.size());
  return made;
}

std::optional<hello> read_hello(std::span<const std::byte, hello::bytes> from) {
  if (!begins_with(from, hello_magic) || get16(&from[8]) != protocol_version
      || get32(&from[12]) != 0)
    return std::nullopt;
  hello found{.index = std::to_integer<std::uint8_t>(from[10]),
              .count = std::to_integer<std::uint8_t>(from[11])};
  if (found.count == 0 || found.count > links_max || found.index >= found.count)
    return std::nullopt;
  std::memcpy(found.shown.secret.data(), &from[16], found.shown.secret.size());
  return found;
}

std::array<std::byte, welcome_bytes> write_welcome(bool is_welcome) {
  std::array<std::byte, welcome_bytes> made{};
  std::memcpy(made.data(), welcome_magic.data(), welcome_magic.size());
  put16(&made[8], protocol_version);
  made[10] = std::byte{is_welcome};
  return made;
}

std::optional<bool> read_welcome(std::span<const std::byte, welcome_bytes> from) {
  if (!begins_with(from, welcome_magic))
    return std::nullopt;
  return get16(&from[8]) == protocol_version && from[10] == std::byte{1};
}

// -- frames -------------------------------------------------------------------

std::vector<std::byte> write(const frame& what) {
  std::vector<std::byte> made(head_bytes + slice_bytes * what.slices.size());
  made[0] = static_cast<std::byte>(what.kind);
  put16(&made[2], static_cast<std::uint16_t>(what.slices.size()));
  put64(&made[8], what.number);
  put64(&made[16], static_cast<std::uint64_t>(what.from));
  put64(&made[24], static_cast<std::uint64_t>(what.to));
  auto* at = made.data() + head_bytes;
  for (const auto& one : what.slices) {
    put64(at, one.from);
    put64(at + 8, one.to);
    put64(at + 16, one.bytes);
    at += slice_bytes;
  }
  return made;
}

namespace {

bool has_sound_head(std::span<const std::byte> head) {
  std::size_t slices = get16(&head[2]);
  if (head[1] != std::byte{} || get32(&head[4]) != 0 || slices > slices_max)
    return false;
  switch (static_cast<frame_kind>(head[0])) {
    case frame_kind::put:
    case frame_kind::get:
    case frame_kind::copy: return slices > 0;
    case frame_kind::show: return slices == 1;
    case frame_kind::ask:
    case frame_kind::data:
    case frame_kind::done:
    case frame_kind::refused: return slices == 0;
  }
  return false;
}

bool is_sound(const slice& one, std::uint64_t bytes_max) {
  constexpr auto end = std::numeric_limits<std::uint64_t>::max();
  return one.bytes > 0 && one.bytes <= bytes_max && one.from <= end - one.bytes
         && one.to <= end - one.bytes;
}

std::optional<frame> read_frame(std::span<const std::byte> whole) {
  frame made{.kind = static_cast<frame_kind>(whole[0]),
             .number = get64(&whole[8]),
             .from = segment_id{get64(&whole[16])},
             .to = segment_id{get64(&whole[24])}};
  auto left = made.kind == frame_kind::show
                ? static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
                : request_bytes_max;
  for (auto at = head_bytes; at < whole.size(); at += slice_bytes) {
    slice one{get64(&whole[at]), get64(&whole[at + 8]), get64(&whole[at + 16])};
    if (!is_sound(one, left))
      return std::nullopt;
    left -= one.bytes;
    made.slices.push_back(one);
  }
  return made;
}

} // namespace

result<std::optional<frame>, loss> frame_parser::take(std::span<const std::byte>& in) {
  if (!fill_to(head_bytes, in))
    return std::optional<frame>{};
  if (!has_sound_head(begun_))
    return failure(loss::unsound);
  if (!fill_to(head_bytes + slice_bytes * get16(&begun_[2]), in))
    return std::optional<frame>{};
  auto made = read_frame(begun_);
  begun_.clear();
  if (!made)
    return failure(loss::unsound);
  return made;
}

/// False if `in` has run out before.
bool frame_parser::fill_to(std::size_t bytes, std::span<const std::byte>& in) {
  if (begun_.size() < bytes) {
    auto taken = std::min(bytes - begun_.size(), in.size());
    begun_.insert(begun_.end(), in.begin(),
                  in.begin() + static_cast<std::ptrdiff_t>(taken));
    in = in.subspan(taken);
  }
  return begun_.size() >= bytes;
}

} // namespace perigee::transport::streams
