#include "journal/segment_files.hpp"

#include "journal/folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace perigee::journal {
namespace {

namespace fs = std::filesystem;

std::string why_not(const char* what, const fs::path& path, int error) {
  return path.string() + " can't be " + what + ": "
         + std::generic_category().message(error);
}

} // namespace

result<segment_files, std::string> segment_files::open(const fs::path& under,
                                                       const std::string& node,
                                                       std::uint64_t life,
                                                       std::uint64_t bytes_max) {
  std::error_code wrong;
  fs::create_directories(under, wrong);
  if (wrong)
    return failure(why_not("made", under, wrong.value()));
  segment_files made{under / folder_name(node, life), bytes_max};
  bool is_new = fs::create_directory(made.folder_, wrong);
  if (wrong)
    return failure(why_not("made", made.folder_, wrong.value()));
  if (!is_new)
    return failure(made.folder_.string()
                   + " is there already: journals are never written over; name "
                     "another folder, or remove it");
  made.find_earlier(node, life);
  return made;
}

segment_files::segment_files(segment_files&& other) noexcept
  : folder_(std::move(other.folder_)), bytes_max_(other.bytes_max_),
    files_(std::move(other.files_)), bytes_(other.bytes_), segment_(other.segment_),
    dropped_(other.dropped_), open_(std::exchange(other.open_, -1)) {}

segment_files::~segment_files() {
  close();
}

void segment_files::close() {
  if (open_ >= 0)
    ::close(std::exchange(open_, -1));
}

void segment_files::find_earlier(const std::string& node, std::uint64_t life) {
  auto lives = find_lives(folder_.parent_path());
  if (!lives)
    return; // none
  std::error_code ignored;
  for (const auto& one : *lives)
    if (one.node == node && one.life < life)
      for (const auto& path : one.segments) {
        files_.push_back({path, fs::file_size(path, ignored)});
        bytes_ += files_.back().bytes;
      }
}

/// Never of the segment that is being written.
void segment_files::make_room(std::uint64_t wanted) {
  std::error_code ignored;
  while (!files_.empty() && bytes_ + wanted > bytes_max_) {
    const auto& oldest = files_.front();
    fs::remove(oldest.path, ignored);
    if (oldest.path.parent_path() != folder_)
      fs::remove(oldest.path.parent_path(), ignored); // only if it is empty now
    bytes_ -= oldest.bytes;
    files_.pop_front();
    ++dropped_;
  }
}

result<void, std::string> segment_files::begin_segment(std::uint64_t expected) {
  close();
  make_room(expected);
  auto path = folder_ / segment_name(++segment_);
  open_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  if (open_ < 0)
    return failure(why_not("made", path, errno));
  files_.push_back({path, 0});
  return {};
}

result<void, std::string> segment_files::write(bytes_view all) {
  while (!all.empty()) {
    auto count = ::write(open_, all.data(), all.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return failure(why_not("written", files_.back().path, errno));
    auto done = static_cast<std::size_t>(count);
    files_.back().bytes += done;
    bytes_ += done;
    all = all.subspan(done);
  }
  return {};
}

} // namespace perigee::journal
