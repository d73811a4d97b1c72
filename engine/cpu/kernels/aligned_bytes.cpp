#include "engine/cpu/kernels/aligned_bytes.hpp"

#include "schemas/assert.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace perigee::engine::cpu {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

constexpr std::size_t whole(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

std::shared_ptr<std::byte> small_piece(std::size_t size) {
  auto* memory = std::aligned_alloc(line_bytes, whole(size, line_bytes));
  PERIGEE_ASSERT(memory != nullptr, "out of memory");
  std::memset(memory, 0, size);
  return {static_cast<std::byte*>(memory), std::free};
}

// Fresh pages are zero, and aren't there before they are touched.
std::shared_ptr<std::byte> large_piece(std::size_t size) {
  auto pages = whole(size, huge_page_bytes);
  auto mapped = pages + huge_page_bytes; // room to begin at a huge page
  auto* memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  PERIGEE_ASSERT(memory != MAP_FAILED, "out of memory");
  auto at = reinterpret_cast<std::uintptr_t>(memory);
  auto* begin = static_cast<std::byte*>(memory) + (whole(at, huge_page_bytes) - at);
  ::madvise(begin, pages, MADV_HUGEPAGE);
  return {begin, [memory, mapped](std::byte*) { ::munmap(memory, mapped); }};
}

} // namespace

aligned_bytes::aligned_bytes(std::size_t size) : size_(size) {
  if (size > 0)
    memory_ = size < huge_page_bytes ? small_piece(size) : large_piece(size);
}

aligned_bytes aligned_slabs::take(std::size_t size) {
  size = whole(size, line_bytes);
  if (size > slab_bytes / 4)
    return aligned_bytes(size);
  if (current_.size() - used_ < size) {
    current_ = aligned_bytes(slab_bytes);
    used_ = 0;
  }
  aligned_bytes piece;
  piece.size_ = size;
  piece.memory_ = {current_.memory_, current_.data() + used_};
  used_ += size;
  return piece;
}

} // namespace perigee::engine::cpu
