#include "journal/writer.hpp"

#include "journal/packing.hpp"
#include "schemas/assert.hpp"

#include <xxhash.h>

#include <chrono>

namespace perigee::journal {
namespace {

constexpr std::chrono::milliseconds frame_age_max{100};

/// What a thread needs to make a message ready; kept from one to the next.
struct workshop {
  std::vector<capnp::word> redacted;
  bytes packed;
};

workshop& workshop_of_thread() {
  static thread_local workshop own;
  constexpr std::size_t kept_max = std::size_t{1} << 20;
  if (own.packed.capacity() > kept_max || own.redacted.capacity() > kept_max)
    own = {};
  own.packed.clear();
  return own;
}

bytes head_of_segment() {
  bytes head;
  byte_writer out{head};
  out.raw(std::as_bytes(std::span{magic}));
  out.fixed32(version);
  out.fixed32(0);
  return head;
}

void append_frame(const bytes& payload, std::uint64_t offset, bytes& to) {
  byte_writer out{to};
  out.fixed32(static_cast<std::uint32_t>(payload.size()));
  out.fixed32(0);
  out.fixed64(XXH3_64bits_withSeed(payload.data(), payload.size(), offset));
  out.raw(payload);
}

} // namespace

result<std::unique_ptr<writer>, std::string> writer::open(settings how) {
  PERIGEE_ASSERT(how.segment_bytes >= segment_bytes_min
                   && how.total_bytes >= 2 * how.segment_bytes,
                 "a journal too small to rotate");
  auto files = segment_files::open(how.folder, std::string{how.about.node},
                                   how.about.life, how.total_bytes);
  if (!files)
    return failure(files.error());
  // Made here, so that a disk that can't be written is known at once.
  if (auto begun = files->begin_segment(how.segment_bytes); !begun)
    return failure(begun.error());
  std::unique_ptr<writer> made{new writer{std::move(how), *std::move(files)}};
  return made;
}

writer::writer(settings how, segment_files files)
  : how_(std::move(how)), files_(std::move(files)),
    encoder_(how_.about, how_.segment_bytes / 4) {
  dropped_ = files_.segments_dropped();
  begin_segment();
  if (how_.in_background)
    thread_.emplace([this] { run(); });
}

writer::~writer() {
  {
    std::lock_guard guard{lock_};
    seal();
    ends_ = true;
  }
  if (thread_) {
    news_.notify_one();
    thread_->join();
  }
}

void writer::begin_segment() {
  ++segment_;
  segment_bytes_ = segment_head_bytes;
  begins_segment_ = true;
  encoder_.begin_segment(segment_);
}

/// Makes a frame of what there is. Under the lock.
void writer::seal() {
  if (encoder_.payload().empty())
    return;
  sealed one;
  if (std::exchange(begins_segment_, false)) {
    one.begins_file = segment_ > 1; // the first one was begun by open()
    one.frame = head_of_segment();
  }
  append_frame(encoder_.payload(), segment_bytes_, one.frame);
  segment_bytes_ += frame_head_bytes + encoder_.payload().size();
  encoder_.clear();
  if (!how_.in_background)
    return write_out(one);
  waiting_bytes_ += one.frame.size();
  waiting_.push_back(std::move(one));
}

/// By the one thread that writes.
void writer::write_out(const sealed& one) {
  if (broken_)
    return;
  result<void, std::string> done;
  if (one.begins_file)
    done = files_.begin_segment(how_.segment_bytes);
  if (done)
    done = files_.write(one.frame);
  dropped_ = files_.segments_dropped();
  if (done)
    return;
  broken_ = true;
  if (how_.on_failure)
    how_.on_failure(done.error());
}

void writer::run() {
  std::unique_lock guard{lock_};
  while (!ends_ || !waiting_.empty()) {
    if (waiting_.empty()) {
      news_.wait_for(guard, frame_age_max, [&] { return ends_ || !waiting_.empty(); });
      seal(); // also what is not full, so that it is not lost if the process dies
    }
    auto now = std::exchange(waiting_, {});
    guard.unlock();
    std::size_t written = 0;
    for (const auto& one : now) {
      write_out(one);
      written += one.frame.size();
    }
    guard.lock();
    waiting_bytes_ -= written;
  }
}

/// Else counts what is left out.
bool writer::has_room() {
  if (waiting_bytes_ <= how_.waiting_bytes_max)
    return true;
  ++left_out_;
  return false;
}

/// `add` appends to the encoder; under the lock.
template <class Add>
void writer::append_locked(Add add) {
  if (left_out_ > left_out_told_)
    encoder_.add(gap{left_out_ - std::exchange(left_out_told_, left_out_)});
  add();
  if (encoder_.payload().size() < frame_bytes_full)
    return;
  seal();
  if (segment_bytes_ >= how_.segment_bytes)
    begin_segment();
  if (thread_)
    news_.notify_one();
}

template <class Add>
void writer::append(Add add) {
  if (broken_)
    return;
  std::lock_guard guard{lock_};
  if (has_room())
    append_locked(add);
}

/// If its words are elsewhere, appends it without them. False if they are not.
template <class Record>
bool writer::append_reference(const Record& one) {
  if (broken_)
    return true;
  std::lock_guard guard{lock_};
  if (!encoder_.knows(one.what.sender))
    return false;
  if (has_room())
    append_locked([&] { encoder_.add(one, 0, {}); });
  return true;
}

template <class Record>
void writer::append_words(const Record& one) {
  auto& shop = workshop_of_thread();
  auto words = one.what.words;
  if (how_.redacts)
    words = how_.redacts->redact(one.what.type, words, shop.redacted);
  pack(words, shop.packed);
  append([&] { encoder_.add(one, words.size(), shop.packed); });
}

/// Also if there is no room for anything else: the rest would be hard to read.
void writer::introduce(const introduction& one) {
  if (broken_)
    return;
  std::lock_guard guard{lock_};
  append_locked([&] { encoder_.add(one); });
}

void writer::sent(const sending& one) {
  bool wrote_it = one.by == one.what.sender;
  if (wrote_it || !append_reference(one))
    append_words(one);
}

void writer::took(const taking& one) {
  if (!append_reference(one))
    append_words(one);
}

void writer::absent(const absence& one) {
  append([&] { encoder_.add(one); });
}

void writer::failed(const failing& one) {
  append([&] { encoder_.add(one); });
}

void writer::missed(const missing& one) {
  append([&] { encoder_.add(one); });
}

void writer::lost(const losing& one) {
  append([&] { encoder_.add(one); });
}

std::uint64_t writer::left_out() const {
  std::lock_guard guard{lock_};
  return left_out_;
}

std::uint64_t writer::segments_dropped() const {
  return dropped_;
}

} // namespace perigee::journal
