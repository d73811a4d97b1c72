#include "engine/cpu/kernels/aligned_bytes.hpp"

#include "schemas/assert.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

namespace perigee::engine::cpu {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

} // namespace

aligned_bytes::aligned_bytes(std::size_t size) : size_(size) {
  if (size == 0)
    return;
  auto align = size >= huge_page_bytes ? huge_page_bytes : line_bytes;
  auto whole = (size + align - 1) / align * align;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(align, whole));
  PERIGEE_ASSERT(memory != nullptr, "out of memory");
  if (align == huge_page_bytes)
    ::madvise(memory, whole, MADV_HUGEPAGE);
  std::memset(memory, 0, whole);
  memory_.reset(memory);
}

void aligned_bytes::release::operator()(std::byte* memory) const {
  std::free(memory);
}

} // namespace perigee::engine::cpu
