#include "transport/disk/modelled_disk.hpp"

#include <catch2/catch.hpp>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;

constexpr geometry small{.layer_bytes = 50, .layers = 2};

/// A disk of four slots beside a memory of four blocks, 100 bytes each.
struct bed {
  explicit bed(modelled_disk_options how = {}) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>(i * 7);
    how.slots = 4;
    subject = make_modelled_disk({segment_id{1}, bytes.data(), small, 4, nullptr}, how);
  }

  result<void, disk_fault> begin(std::uint64_t id, disk_job what,
                                 std::chrono::nanoseconds now = 0ns) {
    return subject->submit(disk_job_id{id}, std::move(what), now,
                           [this](disk_job_id which, const auto& came) {
                             CHECK(came);
                             done.push_back(static_cast<std::uint64_t>(which));
                           });
  }

  std::vector<std::byte> block(std::size_t at) const {
    return {bytes.begin() + static_cast<std::ptrdiff_t>(at * 100),
            bytes.begin() + static_cast<std::ptrdiff_t>(at * 100 + 100)};
  }

  std::vector<std::byte> bytes = std::vector<std::byte>(400);
  std::vector<std::uint64_t> done;
  std::unique_ptr<disk> subject;
};

disk_job write(std::vector<disk_job::pair> pairs) {
  return {disk_job::way::write, std::move(pairs)};
}

disk_job read(std::vector<disk_job::pair> pairs) {
  return {disk_job::way::read, std::move(pairs)};
}

TEST_CASE("what is written to a slot is read from it, into any block") {
  bed here;
  auto first = here.block(0), second = here.block(1);
  REQUIRE(here.begin(1, write({{0, 3}, {1, 2}})));
  here.subject->run_to(0ns);
  REQUIRE(here.begin(2, read({{2, 3}, {0, 2}})));
  here.subject->run_to(0ns);
  CHECK(here.done == std::vector<std::uint64_t>{1, 2});
  CHECK(here.block(2) == first);
  CHECK(here.block(0) == second);
}

TEST_CASE("jobs of one way follow each other, those of the other don't wait") {
  bed here{{.read_bytes_per_s = 1e9, .write_bytes_per_s = 5e8}};
  REQUIRE(here.begin(1, read({{0, 0}, {1, 1}})));
  REQUIRE(here.begin(2, read({{2, 2}}), 50ns));
  REQUIRE(here.begin(3, write({{3, 3}}), 50ns));
  CHECK(here.subject->next_end() == 200ns);
  here.subject->run_to(199ns);
  CHECK(here.done.empty());
  here.subject->run_to(250ns);
  CHECK(here.done == std::vector<std::uint64_t>{1, 3});
  CHECK(here.subject->next_end() == 300ns);
  here.subject->run_to(1us);
  CHECK(here.done == std::vector<std::uint64_t>{1, 3, 2});
  CHECK(here.subject->outstanding() == 0);
}

TEST_CASE("a latency is paid for each queue full, while the next job goes on") {
  bed here{{.read_bytes_per_s = 1e9, .latency = 1us, .depth = 2}};
  REQUIRE(here.begin(1, read({{0, 0}, {1, 1}, {2, 2}})));
  REQUIRE(here.begin(2, read({{3, 3}})));
  CHECK(here.subject->next_end() == 1400ns); // the second: 400 bytes, one latency
  here.subject->run_to(1400ns);
  CHECK(here.subject->next_end() == 2300ns);
}

TEST_CASE("what is not there, and what is too much, is refused") {
  bed here{{.jobs_max = 1}};
  CHECK(here.begin(1, read({{4, 0}})).error() == disk_fault::out_of_range);
  CHECK(here.begin(1, write({{0, 4}})).error() == disk_fault::out_of_range);
  REQUIRE(here.begin(1, read({{0, 0}})));
  CHECK(here.begin(2, read({{0, 0}})).error() == disk_fault::busy);
  CHECK(here.subject->outstanding() == 1);
}

TEST_CASE("a modelled memory's disk keeps no bytes, and takes the same time") {
  auto subject = make_modelled_disk({segment_id{1}, nullptr, small, 4, nullptr},
                                    {.slots = 4, .write_bytes_per_s = 1e9});
  REQUIRE(subject->submit(disk_job_id{1}, write({{0, 0}}), 5ns, [](auto, auto) {}));
  CHECK(subject->next_end() == 105ns);
}

} // namespace
} // namespace perigee::transport
