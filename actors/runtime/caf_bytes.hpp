/// \file
/// How a message's bytes pass through the inspectors of either line of CAF. For msg.hpp
/// alone.
#pragma once

#include "actors/runtime/caf_port.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace perigee::rt {

/// Counts one refused message for the system that `f` reads for. If that is none of
/// ours, nobody counts.
template <class Inspector>
void refuse_message([[maybe_unused]] Inspector& f,
                    [[maybe_unused]] std::string_view type,
                    [[maybe_unused]] std::string_view why) {
  if constexpr (requires { f.context()->system().config(); })
    if (auto* unit = f.context())
      if (auto* ours = dynamic_cast<const system_config*>(&unit->system().config()))
        ours->refused().count(type, why);
}

// put_bytes() writes their number, then the bytes. take_bytes() asks `room_for` for
// space for as many as were announced, fills it, asks `accept`. Either may say no (with
// no space, or false): then the whole message is dropped.

#if PERIGEE_CAF_017
template <class Inspector>
using inspected = typename Inspector::result_type;

template <class Inspector>
inline constexpr bool is_saving = Inspector::reads_state;

template <class Inspector>
error put_bytes(Inspector& f, std::span<const std::byte> bytes) {
  auto size = bytes.size();
  auto* raw = const_cast<std::byte*>(bytes.data()); // CAF only reads it
  return error::eval([&] { return f.begin_sequence(size); },
                     [&] { return f.apply_raw(size, raw); },
                     [&] { return f.end_sequence(); });
}

template <class Inspector, class RoomFor, class Accept>
error take_bytes(Inspector& f, RoomFor room_for, Accept accept) {
  std::size_t size = 0;
  if (auto wrong = f.begin_sequence(size))
    return wrong;
  std::span<std::byte> room = room_for(size);
  if (room.size() != size)
    return caf::make_error(caf::sec::invalid_argument);
  if (auto wrong = f.apply_raw(size, room.data()))
    return wrong;
  if (auto wrong = f.end_sequence())
    return wrong;
  return accept() ? error{} : caf::make_error(caf::sec::invalid_argument);
}
#else
template <class Inspector>
using inspected = bool;

template <class Inspector>
inline constexpr bool is_saving = !Inspector::is_loading;

template <class Inspector>
bool put_bytes(Inspector& f, std::span<const std::byte> bytes) {
  return f.begin_sequence(bytes.size())
         && f.value(caf::const_byte_span{bytes.data(), bytes.size()})
         && f.end_sequence();
}

template <class Inspector, class RoomFor, class Accept>
bool take_bytes(Inspector& f, RoomFor room_for, Accept accept) {
  std::size_t size = 0;
  if (!f.begin_sequence(size))
    return false;
  std::span<std::byte> room = room_for(size);
  bool taken = room.size() == size && f.value(caf::byte_span{room.data(), size})
               && f.end_sequence() && accept();
  if (!taken)
    f.emplace_error(caf::sec::invalid_argument);
  return taken;
}
#endif

} // namespace perigee::rt
