#include "transport/shm/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace perigee::transport::shm {

using streams::file;

namespace {

/// What makes a peer's file safe to read: nobody can cut it off under us.
constexpr int seals_wanted = F_SEAL_SHRINK;

/// Who gives memory away is the only one who writes to it.
constexpr int seals_given
  = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

std::size_t to_pages(std::size_t bytes) {
  auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

} // namespace

std::shared_ptr<std::byte> memory::allocate(std::size_t bytes) {
  auto size = to_pages(bytes);
  auto made = std::make_shared<const file>(
    memfd_create("perigee", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!*made || size < bytes || ftruncate(made->fd(), static_cast<off_t>(size)) != 0)
    return nullptr;
  auto* begin = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, made->fd(), 0);
  if (begin == MAP_FAILED)
    return nullptr;
  auto* found = static_cast<std::byte*>(begin);
  std::shared_ptr<std::byte> owned{found, [size, all = book_](std::byte* gone) {
                                     {
                                       std::lock_guard held{all->mutex};
                                       all->regions.erase(gone);
                                     }
                                     munmap(gone, size);
                                   }};
  if (fcntl(made->fd(), F_ADD_SEALS, seals_given) != 0)
    return nullptr;
  std::lock_guard held{book_->mutex};
  book_->regions.emplace(found, region{size, std::move(made)});
  return owned;
}

std::optional<streams::shared_memory::place> memory::find(const segment& what) const {
  std::lock_guard held{book_->mutex};
  auto after = book_->regions.upper_bound(what.base);
  if (!what.base || after == book_->regions.begin())
    return std::nullopt;
  const auto& [begin, there] = *std::prev(after);
  auto offset = static_cast<std::uint64_t>(what.base - begin);
  auto bytes = what.blocks * what.shape.block_bytes();
  if (offset > there.bytes || bytes > there.bytes - offset)
    return std::nullopt;
  return place{there.where, offset};
}

std::shared_ptr<const std::byte> memory::map(const file& from, std::uint64_t offset,
                                             std::uint64_t bytes) const {
  struct stat about {};
  auto seals = fcntl(from.fd(), F_GET_SEALS);
  if (seals < 0 || (seals & seals_wanted) != seals_wanted
      || fstat(from.fd(), &about) != 0)
    return nullptr;
  auto size = static_cast<std::uint64_t>(about.st_size);
  if (bytes == 0 || offset > size || bytes > size - offset)
    return nullptr;
  auto mapped = static_cast<std::size_t>(size); // offsets need not lie on pages
  auto* begin = mmap(nullptr, mapped, PROT_READ, MAP_SHARED, from.fd(), 0);
  if (begin == MAP_FAILED)
    return nullptr;
  std::shared_ptr<const std::byte> whole{
    static_cast<const std::byte*>(begin),
    [mapped](const std::byte* gone) { munmap(const_cast<std::byte*>(gone), mapped); }};
  return {whole, whole.get() + offset};
}

} // namespace perigee::transport::shm
