#include "engine/gguf/gguf.hpp"
#include "schemas/assert.hpp"

#include <fcntl.h>
#include <openssl/sha.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>

namespace perigee::engine::gguf {
namespace {

using sha256 = std::array<std::byte, 32>;

constexpr std::size_t piece_bytes = std::size_t{16} << 20;

sha256 hash_of(std::span<const std::byte> bytes) {
  sha256 digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

sha256 hash_in_pieces(std::span<const std::byte> bytes) {
  std::vector<sha256> pieces((bytes.size() + piece_bytes - 1) / piece_bytes);
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < pieces.size();) {
      auto begin = i * piece_bytes;
      pieces[i]
        = hash_of(bytes.subspan(begin, std::min(piece_bytes, bytes.size() - begin)));
    }
  };
  {
    auto helpers = std::min<std::size_t>(std::thread::hardware_concurrency(), 4);
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(helpers, pieces.size()); ++i)
      threads.emplace_back(work);
    work();
  }
  return hash_of(std::as_bytes(std::span(pieces)));
}

bad_input unreadable(const std::string& path, const std::string& why) {
  return {file_fault::unreadable, path, "a file that can be read: " + why, ""};
}

class descriptor {
public:
  explicit descriptor(const std::string& path)
    : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~descriptor() {
    if (number_ >= 0)
      ::close(number_);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  int number() const {
    return number_;
  }

private:
  int number_;
};

struct mapping {
  std::span<const std::byte> bytes;

  explicit mapping(std::span<const std::byte> mapped) : bytes(mapped) {}
  ~mapping() {
    if (!bytes.empty())
      ::munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
  }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
};

found<std::span<const std::byte>> map(const std::string& path) {
  descriptor file(path);
  if (file.number() < 0)
    return failure(unreadable(path, std::strerror(errno)));
  struct stat is {};
  if (::fstat(file.number(), &is) != 0)
    return failure(unreadable(path, std::strerror(errno)));
  if (!S_ISREG(is.st_mode))
    return failure(unreadable(path, "it isn't a regular file"));
  if (is.st_size == 0)
    return failure(unreadable(path, "it is empty"));
  auto size = static_cast<std::size_t>(is.st_size);
  auto* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (memory == MAP_FAILED)
    return failure(unreadable(path, std::strerror(errno)));
  return std::span{static_cast<const std::byte*>(memory), size};
}

} // namespace

struct file::memo {
  explicit memo(std::span<const std::byte> bytes) : mapped(bytes) {}

  mapping mapped;
  std::once_flag once;
  sha256 digest{};
};

found<std::shared_ptr<const file>> file::open(const std::string& path) {
  auto bytes = map(path);
  if (!bytes)
    return failure(bytes.error());
  auto memo_of = std::make_unique<memo>(*bytes);
  auto said = contents::read(*bytes, path);
  if (!said)
    return failure(said.error());
  std::shared_ptr<file> opened(new file(*bytes, std::move(*said)));
  opened->memo_ = std::move(memo_of);
  return std::shared_ptr<const file>(std::move(opened));
}

file::file(std::span<const std::byte> bytes, contents said)
  : contents(std::move(said)), bytes_(bytes) {}

file::~file() = default;

const sha256& file::digest() const {
  std::call_once(memo_->once, [&] { memo_->digest = hash_in_pieces(bytes_); });
  return memo_->digest;
}

void file::release(std::span<const std::byte> data) const {
  PERIGEE_ASSERT(data.empty()
                   || (data.data() >= bytes_.data()
                       && data.data() + data.size() <= bytes_.data() + bytes_.size()),
                 "only bytes of this file");
  auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto before = static_cast<std::size_t>(data.data() - bytes_.data()); // begins a page
  auto begin = (before + page - 1) / page * page;
  auto end = (before + data.size()) / page * page;
  if (begin < end)
    ::madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin,
              MADV_DONTNEED);
}

} // namespace perigee::engine::gguf
