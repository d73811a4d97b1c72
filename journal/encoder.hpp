/// \file
/// encoder: records as the payloads of frames.
#pragma once

#include "journal/coding.hpp"
#include "journal/format.hpp"
#include "journal/record.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace perigee::journal {

/// Appends records to a payload. Gives actors and types their numbers, anew in each
/// segment, and remembers who was introduced. Not thread-safe; no I/O.
class encoder {
public:
  /// `about` says whose journal it is, but for the segment's number. Of introductions,
  /// `repeated_bytes_max` are repeated in later segments; those beyond are not.
  encoder(const opening& about, std::size_t repeated_bytes_max);

  /// What comes now belongs to segment `number`. The payload is empty before.
  void begin_segment(std::uint64_t number);

  const bytes& payload() const {
    return payload_;
  }

  /// The next payload begins.
  void clear();

  /// Whether `tag` was introduced here: then its messages have their words here.
  bool knows(std::uint64_t tag) const {
    return introduced_.contains(tag);
  }

  void add(const introduction& one);
  /// `packed`: the message's words, `words` of them, or nothing if they are elsewhere.
  void add(const sending& one, std::size_t words, bytes_view packed);
  void add(const taking& one, std::size_t words, bytes_view packed);
  void add(const absence& one);
  void add(const failing& one);
  void add(const missing& one);
  void add(const losing& one);
  void add(const gap& one);

private:
  void put(kind what);
  void put_moment(std::int64_t at);
  void put_trouble(const trouble& why);
  void put_words(std::size_t words, bytes_view packed);
  std::uint64_t number_of_actor(std::uint64_t tag);
  std::uint64_t number_of_type(std::uint64_t type);
  static void write(byte_writer to, const introduction& one);

  const std::string node_, build_; ///< What about_ refers to.
  opening about_;
  const std::size_t repeated_bytes_max_;
  bytes payload_;
  byte_writer out_{payload_};
  std::int64_t moment_ = 0; ///< The last one in the payload.
  std::int64_t latest_ = 0; ///< The last one of all.

  struct introduced {
    std::uint64_t number; ///< In this segment; 0: none yet.
  };
  std::unordered_map<std::uint64_t, introduced> introduced_; ///< By tag.
  std::vector<std::uint64_t> repeated_tags_;                 ///< In order.
  bytes repeated_; ///< Their introductions, as they are written in later segments.
  std::unordered_map<std::uint64_t, std::uint64_t> strangers_,
    types_;                  ///< This segment.
  std::uint64_t actors_ = 0; ///< Numbered in this segment.
};

} // namespace perigee::journal
