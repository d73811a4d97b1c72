/// \file
/// segment_files: the files of a journal that is being written.
#pragma once

#include "journal/coding.hpp"
#include "schemas/result.hpp"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>

namespace perigee::journal {

/// Writes one segment after the other into the folder of one life of a node, and drops
/// the node's oldest ones, those of its earlier lives first, so that all of them have
/// no more than a number of bytes. Not thread-safe.
class segment_files {
public:
  /// Makes the folder `under/node@life`. Fails with a sentence, also if it is there: no
  /// journal is written over another.
  static result<segment_files, std::string> open(const std::filesystem::path& under,
                                                 const std::string& node,
                                                 std::uint64_t life,
                                                 std::uint64_t bytes_max);

  segment_files(segment_files&&) noexcept;
  segment_files& operator=(segment_files&&) = delete;
  ~segment_files();

  /// The bytes after this belong to a new segment, which will have about as many as
  /// `expected`.
  result<void, std::string> begin_segment(std::uint64_t expected);

  /// Fails with a sentence; what was written before stays readable.
  result<void, std::string> write(bytes_view all);

  std::uint64_t segments_dropped() const {
    return dropped_;
  }

private:
  struct file {
    std::filesystem::path path;
    std::uint64_t bytes;
  };

  segment_files(std::filesystem::path folder, std::uint64_t bytes_max)
    : folder_(std::move(folder)), bytes_max_(bytes_max) {}

  void find_earlier(const std::string& node, std::uint64_t life);
  void make_room(std::uint64_t wanted);
  void close();

  std::filesystem::path folder_;
  std::uint64_t bytes_max_;
  std::deque<file> files_; ///< Oldest first; the last one is being written.
  std::uint64_t bytes_ = 0;
  std::uint64_t segment_ = 0;
  std::uint64_t dropped_ = 0;
  int open_ = -1;
};

} // namespace perigee::journal
