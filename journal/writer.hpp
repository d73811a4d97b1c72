/// \file
/// writer: keeps the journal of one process.
#pragma once

#include "journal/encoder.hpp"
#include "journal/redactor.hpp"
#include "journal/segment_files.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace perigee::journal {

struct settings {
  std::filesystem::path folder;
  opening about; ///< But for the segment's number.
  std::uint64_t segment_bytes = std::uint64_t{32} << 20;
  std::uint64_t total_bytes = std::uint64_t{1} << 30; ///< Of all lives of the node.

  /// Frames are written by a thread of the journal's own, a tenth of a second after
  /// they were begun at most; else by whoever fills one. Who wants equal bytes from
  /// equal runs says false, and appends from one thread.
  bool in_background = true;

  /// What may wait for the disk. What comes then is left out, and the journal says so.
  std::size_t waiting_bytes_max = std::size_t{32} << 20;

  /// What is taken out: all that the schemas mark as `$tokenIds`. Null: nothing.
  std::shared_ptr<const redactor> redacts;

  /// Told, once, that the disk would take no more: the journal ends there. From
  /// whichever thread writes; must not call the journal.
  std::function<void(const std::string&)> on_failure;
};

inline constexpr std::uint64_t segment_bytes_min = std::uint64_t{256} << 10;

/// Appends records, from any threads at once. Nothing here fails once it is open: a
/// disk that takes no more ends the journal, and nothing else.
///
/// Cost: a message is redacted and packed by who sends it, on its own; then copied
/// under a lock. In the background the disk is touched by another thread, outside that
/// lock, so an actor never waits for it.
class writer {
public:
  /// Fails with a sentence.
  static result<std::unique_ptr<writer>, std::string> open(settings how);

  /// Writes what is left.
  ~writer();
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  void introduce(const introduction& one);
  /// Where a message's words are elsewhere in the journal, they are not written again.
  void sent(const sending& one);
  void took(const taking& one);
  void absent(const absence& one);
  void failed(const failing& one);
  void missed(const missing& one);
  void lost(const losing& one);

  /// Records that were left out because the disk was too slow.
  std::uint64_t left_out() const;
  /// Oldest segments that were dropped to make room.
  std::uint64_t segments_dropped() const;

private:
  struct sealed {
    bytes frame;
    bool begins_file = false;
  };

  writer(settings how, segment_files files);

  template <class Add>
  void append(Add add);
  template <class Add>
  void append_locked(Add add);
  template <class Record>
  bool append_reference(const Record& one);
  template <class Record>
  void append_words(const Record& one);
  bool has_room();
  void seal();
  void begin_segment();
  void write_out(const sealed& one);
  void run();

  const settings how_;
  segment_files files_; ///< Of the thread that writes.

  mutable std::mutex lock_;
  encoder encoder_;
  std::uint64_t segment_ = 0;
  std::uint64_t segment_bytes_ = 0; ///< Of frames that are sealed.
  bool begins_segment_ = false;     ///< The next one does.
  std::uint64_t left_out_ = 0;
  std::uint64_t left_out_told_ = 0;
  std::deque<sealed> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool ends_ = false;

  std::atomic<bool> broken_{false};
  std::atomic<std::uint64_t> dropped_{0};
  std::condition_variable news_;
  std::optional<std::thread> thread_;
};

} // namespace perigee::journal
