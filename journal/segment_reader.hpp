/// \file
/// segment_reader: the records of one segment, one after the other.
#pragma once

#include "journal/coding.hpp"
#include "journal/record.hpp"
#include "schemas/result.hpp"

#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace perigee::journal {

/// What is wrong with a segment, and where.
struct complaint {
  std::string file;
  std::uint64_t offset = 0;
  std::string what;
};

/// `j/n0@1/00000003.journal: at byte 4711: a frame whose checksum is wrong`.
std::string to_string(const complaint& wrong);

/// Reads a segment as a stream: holds one frame at a time. Trusts nothing: whatever the
/// bytes are, it returns records or a complaint. Words were checked for their number
/// alone: who reads fields judges them first.
class segment_reader {
public:
  /// `from` belongs to the caller and outlives this. `file` is for complaints.
  segment_reader(std::istream& from, std::string file);

  /// The next record, valid until the next call; null after the last one. The first is
  /// an opening. After a complaint there is no next.
  result<const record*, complaint> next();

  /// What was skipped at the end, because the process that wrote it was stopped in the
  /// middle of it. After next() returned null.
  const std::optional<complaint>& torn() const {
    return torn_;
  }

private:
  using outcome = result<const record*, complaint>;

  complaint wrong(std::uint64_t at, std::string what) const;
  std::optional<complaint> read_head();
  result<bool, complaint> read_frame();
  result<bool, complaint> end_torn(std::uint64_t at, std::string what);
  bool is_rest_empty();

  std::optional<record> decode();
  std::optional<record> decode_opening();
  record decode_introduction();
  record decode_sending(bool with_words);
  record decode_taking(bool with_words);
  words_view decode_words();
  trouble decode_trouble();
  std::uint64_t actor();
  std::uint64_t type();
  std::int64_t moment();

  std::istream& from_;
  const std::string file_;
  std::uint64_t offset_ = 0;       ///< Of what is read next.
  std::uint64_t frame_offset_ = 0; ///< Of the frame at hand.
  bytes frame_;
  byte_reader rest_{bytes_view{}};
  bool is_open_ = false;
  bool is_done_ = false;
  bool is_sound_ = true; ///< Of the record at hand.
  std::int64_t moment_ = 0;
  std::vector<std::uint64_t> actors_, types_; ///< By number, from 1.
  std::vector<capnp::word> words_;
  record record_;
  std::optional<complaint> torn_;
};

} // namespace perigee::journal
