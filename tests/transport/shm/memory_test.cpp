#include "transport/shm/memory.hpp"

#include "tests/transport/recorder.hpp"

#include <fcntl.h>
#include <sys/mman.h>

namespace perigee::transport {
namespace {

using test::small;

segment as_segment(const std::shared_ptr<std::byte>& bytes, std::uint32_t blocks = 8) {
  return {segment_id{1}, bytes.get(), small, blocks, bytes};
}

TEST_CASE("memory is found by what lies in it, as long as it lives") {
  shm::memory subject;
  auto bytes = subject.allocate(8 * small.block_bytes());
  auto whole = as_segment(bytes);
  CHECK(subject.find(whole));
  auto inside = whole;
  inside.base += 100;
  inside.blocks = 2;
  CHECK(subject.find(inside)->offset == 100);
  auto beyond = as_segment(bytes, 1'000'000);
  CHECK_FALSE(subject.find(beyond));
  bytes.reset();
  whole.keep_alive.reset();
  inside.keep_alive.reset();
  beyond.keep_alive.reset();
  CHECK_FALSE(subject.find(whole));
}

TEST_CASE("what is given to peers can be read by them, and nothing else") {
  shm::memory subject;
  auto bytes = subject.allocate(5000);
  bytes.get()[4999] = std::byte{7};
  auto place = subject.find({{}, bytes.get(), {5000, 1}, 1, bytes});
  REQUIRE(place);
  int fd = place->where->fd();
  auto seen = subject.map(*place->where, 4000, 1000);
  REQUIRE(seen);
  CHECK(seen.get()[999] == std::byte{7});
  bytes.get()[4000] = std::byte{9}; // its owner goes on writing
  CHECK(seen.get()[0] == std::byte{9});
  CHECK(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
  CHECK(pwrite(fd, "x", 1, 0) == -1);
  CHECK(ftruncate(fd, 0) == -1);
  CHECK(ftruncate(fd, 1 << 20) == -1);
  bytes.reset();
  CHECK(seen.get()[999] == std::byte{7}); // what is seen outlives who gave it
}

TEST_CASE("a file that is too short, or could become so, is not mapped") {
  shm::memory subject;
  auto bytes = subject.allocate(4096);
  auto good = subject.find({{}, bytes.get(), {4096, 1}, 1, bytes});
  REQUIRE(good);
  CHECK_FALSE(subject.map(*good->where, 0, 4097));
  CHECK_FALSE(subject.map(*good->where, 4096, 1));
  CHECK_FALSE(subject.map(*good->where, ~std::uint64_t{0}, 2));
  CHECK_FALSE(subject.map(*good->where, 0, 0));
  streams::file loose{memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  REQUIRE(ftruncate(loose.fd(), 4096) == 0);
  CHECK_FALSE(subject.map(loose, 0, 4096));
  streams::file no_file{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  CHECK_FALSE(subject.map(no_file, 0, 1));
}

TEST_CASE("streaming copies are copies, of all sizes at all places") {
  std::vector<std::byte> from(1000), to(1000);
  for (std::size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<std::byte>(i * 7);
  for (std::size_t bytes : {0u, 1u, 63u, 64u, 65u, 127u, 128u, 500u, 900u})
    for (std::size_t at : {0u, 1u, 15u, 16u, 63u})
      for (std::size_t in : {0u, 3u, 16u}) {
        std::ranges::fill(to, std::byte{0xee});
        shm::copy_streaming(to.data() + at, from.data() + in, bytes);
        auto expected = std::vector<std::byte>(1000, std::byte{0xee});
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(in), bytes,
                    expected.begin() + static_cast<std::ptrdiff_t>(at));
        REQUIRE(to == expected);
      }
}

} // namespace
} // namespace perigee::transport
