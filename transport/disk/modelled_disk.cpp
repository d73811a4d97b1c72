#include "transport/disk/modelled_disk.hpp"

#include "schemas/assert.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace perigee::transport {
namespace {

using std::chrono::nanoseconds;

class modelled_disk final : public disk {
public:
  modelled_disk(segment memory, modelled_disk_options how)
    : memory_(std::move(memory)), how_(how) {
    PERIGEE_ASSERT(how_.depth > 0, "a device without a queue");
    if (memory_.base)
      kept_.resize(how_.slots * memory_.shape.block_bytes());
  }

  std::uint32_t slots() const override {
    return how_.slots;
  }

  result<void, disk_fault> submit(disk_job_id id, disk_job what, nanoseconds now,
                                  on_disk_done then) override {
    for (auto [block, slot] : what.pairs)
      if (block >= memory_.blocks || slot >= how_.slots)
        return failure(disk_fault::out_of_range);
    if (jobs_.size() >= how_.jobs_max)
      return failure(disk_fault::busy);
    auto due = schedule(what, now);
    bool is_new
      = jobs_.emplace(std::pair{due, id}, job{std::move(what), std::move(then)}).second;
    PERIGEE_ASSERT(is_new, "two jobs of one number");
    return {};
  }

  std::optional<nanoseconds> next_end() const override {
    if (jobs_.empty())
      return std::nullopt;
    return jobs_.begin()->first.first;
  }

  void run_to(nanoseconds now) override {
    while (!jobs_.empty() && jobs_.begin()->first.first <= now) {
      auto done = jobs_.extract(jobs_.begin());
      copy(done.mapped().what);
      done.mapped().then(done.key().second, {});
    }
  }

  std::size_t outstanding() const override {
    return jobs_.size();
  }

private:
  struct job {
    disk_job what;
    on_disk_done then;
  };

  /// When it ends; its direction is taken until its last byte has gone.
  nanoseconds schedule(const disk_job& what, nanoseconds now) {
    bool reads = what.goes == disk_job::way::read;
    auto rate = reads ? how_.read_bytes_per_s : how_.write_bytes_per_s;
    auto& free_at = reads ? reads_free_at_ : writes_free_at_;
    auto bytes = static_cast<double>(what.pairs.size() * memory_.shape.block_bytes());
    free_at = std::max(free_at, now)
              + nanoseconds{rate > 0 ? std::llround(bytes / rate * 1e9) : 0};
    auto rounds = (what.pairs.size() + how_.depth - 1) / how_.depth;
    return free_at + how_.latency * static_cast<std::int64_t>(rounds);
  }

  void copy(const disk_job& what) {
    if (!memory_.base)
      return;
    auto size = memory_.shape.block_bytes();
    for (auto [block, slot] : what.pairs) {
      auto* in_memory = memory_.base + block * size;
      auto* on_disk = kept_.data() + slot * size;
      if (what.goes == disk_job::way::read)
        std::memcpy(in_memory, on_disk, size);
      else
        std::memcpy(on_disk, in_memory, size);
    }
  }

  segment memory_;
  modelled_disk_options how_;
  std::vector<std::byte> kept_;
  std::map<std::pair<nanoseconds, disk_job_id>, job> jobs_; // by when they end
  nanoseconds reads_free_at_{}, writes_free_at_{};
};

} // namespace

std::unique_ptr<disk> make_modelled_disk(segment memory, modelled_disk_options how) {
  return std::make_unique<modelled_disk>(std::move(memory), how);
}

} // namespace perigee::transport
