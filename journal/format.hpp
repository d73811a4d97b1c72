/// \file
/// How a segment of a journal looks on disk.
///
///     segment = magic, version: u32, zero: u32, frame, frame, ...
///     frame   = payload bytes: u32, zero: u32, XXH3 of the payload: u64, payload
///     payload = record, record, ...
///     record  = kind: u8, then what that kind has
///
/// Fixed numbers are little-endian; the hash is seeded with the frame's offset in its
/// file, so that no frame can pass for one at another place. Within records numbers are
/// LEB128 (signed ones zigzag); moments are differences to the one before in the frame.
/// Actors and types have numbers, in the order in which the segment names them, so that
/// every segment can be read without the others. Words are packed as Cap'n Proto packs.
#pragma once

#include "schemas/vocabulary.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace perigee::journal {

inline constexpr std::array<unsigned char, 8> magic{'P', 'E', 'R', 'I',
                                                    'J', 'R', 'N', 'L'};
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t segment_head_bytes = 16;
inline constexpr std::size_t frame_head_bytes = 16;

/// A frame is closed when it has so many.
inline constexpr std::size_t frame_bytes_full = std::size_t{64} << 10;
/// What a reader takes for a frame at most.
inline constexpr std::size_t frame_bytes_max = std::size_t{16} << 20;
static_assert(frame_bytes_full + 2 * message_bytes_max <= frame_bytes_max,
              "the largest message fits into a frame that is nearly full");

/// A name, a role, arguments, an error in words: what is longer is cut.
inline constexpr std::size_t text_bytes_max = 4096;

/// Stands before each record. Never renumbered.
enum class kind : std::uint8_t {
  opening = 1,
  introduction = 2,
  stranger = 3, ///< Numbers a tag of another process, by itself.
  type = 4,     ///< Numbers a type.
  sending = 5,
  passing = 6, ///< A sending whose words are elsewhere.
  taking = 7,  ///< Of what has its words elsewhere.
  hearing = 8, ///< A taking that brings its words.
  absence = 9,
  failing = 10,
  missing = 11,
  losing = 12,
  gap = 13,
};

} // namespace perigee::journal
