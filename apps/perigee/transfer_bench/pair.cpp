#include "apps/perigee/transfer_bench/pair.hpp"

#if PERIGEE_HAS_RDMA
#  include "transport/rdma/rdma.hpp"
#endif
#include "transport/shm/shm.hpp"
#include "transport/tcp/tcp.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <semaphore>
#include <thread>

namespace perigee::app::transfer_bench {
namespace {

using namespace transport;
using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// One of both sides.
struct side {
  segment_table segments;
  std::shared_ptr<std::byte> memory;
  std::atomic<bool> is_up = false;
  std::unique_ptr<peer_transport> subject;
};

class connected final : public pair {
public:
  result<void, std::string> open(kind what, const device_names& devices);
  result<void, std::string> meet();
  result<rate, std::string> run(const load& how,
                                std::chrono::nanoseconds time) override;

private:
  static constexpr peer_id left_name{1}, right_name{2};

  struct segments {
    segment_id left{}, right{};
  };

  result<segments, std::string> cut(std::size_t bytes);
  move block(const load& how, const segments& which, std::size_t index) const;
  void submit_until(clock::time_point end, std::size_t thread, const load& how,
                    const segments& which);

  side left_, right_;
  std::map<std::size_t, segments> cut_; // by the bytes of a block
  std::atomic<std::uint64_t> moves_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_; // guards the next
  std::vector<std::chrono::nanoseconds> took_;
};

using opening = result<std::unique_ptr<peer_transport>, std::string>;

opening as_opening(auto opened) {
  if (!opened)
    return failure(opened.error().what);
  return std::unique_ptr<peer_transport>{std::move(*opened)};
}

#if PERIGEE_HAS_RDMA
opening open_rdma(const segment_table& segments, const std::string& device,
                  on_peer told) {
  rdma::options how;
  if (!device.empty())
    how.devices = {device};
  return as_opening(rdma::open(segments, how, std::move(told)));
}
#else
opening open_rdma(const segment_table&, const std::string&, const on_peer&) {
  return failure(std::string{"it was built without RDMA"});
}
#endif

opening open_transport(kind what, const segment_table& segments,
                       const std::shared_ptr<shm::memory>& shared,
                       const std::string& device, on_peer told) {
  switch (what) {
    case kind::shm: return as_opening(shm::open(segments, shared, {}, std::move(told)));
    case kind::tcp: return as_opening(tcp::open(segments, {}, std::move(told)));
    case kind::rdma: return open_rdma(segments, device, std::move(told));
  }
  return failure(std::string{"no such transport"});
}

result<void, std::string> connected::open(kind what, const device_names& devices) {
  auto shared = std::make_shared<shm::memory>();
  for (auto* one : {&left_, &right_}) {
    auto told = [one](peer_id, const peer_news& news) {
      one->is_up = news.state == peer_state::up;
    };
    one->memory = shared->allocate(memory_bytes);
    if (!one->memory)
      return failure(std::string{"not enough memory"});
    std::memset(one->memory.get(), 1, memory_bytes); // so that it is there
    auto opened
      = open_transport(what, one->segments, shared, devices[one == &right_], told);
    if (!opened)
      return failure(opened.error());
    one->subject = std::move(*opened);
  }
  return {};
}

result<void, std::string> connected::meet() {
  ticket shown; // nobody else is to be kept out
  if (!right_.subject->expect(left_name, shown, 10s)
      || !left_.subject->connect(right_name, right_.subject->here(), shown))
    return failure(std::string{"the transports don't want to meet"});
  for (auto until = clock::now() + 10s; !left_.is_up || !right_.is_up;) {
    if (clock::now() > until)
      return failure(std::string{"the transports have not met"});
    std::this_thread::sleep_for(1ms);
  }
  return {};
}

/// The same memory, as blocks of so many bytes.
result<connected::segments, std::string> connected::cut(std::size_t bytes) {
  if (auto at = cut_.find(bytes); at != cut_.end())
    return at->second;
  auto number = 2 * cut_.size();
  segments made{segment_id{number + 1}, segment_id{number + 2}};
  auto add = [&](side& where, segment_id id) {
    auto blocks = static_cast<std::uint32_t>(memory_bytes / bytes);
    return where.segments
      .add({id, where.memory.get(), {bytes, 1}, blocks, where.memory})
      .has_value();
  };
  if (!add(left_, made.left) || !add(right_, made.right))
    return failure(std::string{"no blocks of such a size"});
  auto shown = right_.subject->describe(made.right);
  if (!shown || !left_.subject->learn(right_name, *shown))
    return failure(std::string{"the transport does not take this memory"});
  return cut_.emplace(bytes, made).first->second;
}

move connected::block(const load& how, const segments& which, std::size_t index) const {
  auto at = static_cast<std::uint32_t>(index % (memory_bytes / how.bytes));
  bool is_write = how.direction == way::write;
  move made;
  made.from = is_write ? which.left : which.right;
  made.to = is_write ? which.right : which.left;
  made.layers = {0, 1};
  made.pairs = {{at, at}};
  return made;
}

void connected::submit_until(clock::time_point end, std::size_t thread, const load& how,
                             const segments& which) {
  std::counting_semaphore<> places{static_cast<std::ptrdiff_t>(how.depth)};
  std::vector<std::chrono::nanoseconds> took;
  for (auto index = thread; clock::now() < end; index += how.threads) {
    places.acquire();
    auto began = clock::now();
    auto taken = left_.subject->submit(move_id{++moves_}, block(how, which, index),
                                       [&](move_id, const outcome& what) {
                                         has_failed_ = has_failed_ || !what;
                                         bytes_ += what.value_or(0);
                                         places.release();
                                       });
    if (!taken) {
      has_failed_ = true;
      places.release();
      break;
    }
    if (how.depth == 1) {
      places.acquire();
      took.push_back(clock::now() - began);
      places.release();
    }
  }
  for (std::size_t i = 0; i < how.depth; ++i)
    places.acquire(); // all have come home
  std::lock_guard held{mutex_};
  took_.insert(took_.end(), took.begin(), took.end());
}

result<rate, std::string> connected::run(const load& how,
                                         std::chrono::nanoseconds time) {
  auto which = cut(how.bytes);
  if (!which)
    return failure(which.error());
  bytes_ = 0;
  took_.clear();
  auto began = clock::now();
  {
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < how.threads; ++i)
      all.emplace_back([&, i] { submit_until(began + time, i, how, *which); });
  }
  std::chrono::duration<double> took = clock::now() - began;
  if (has_failed_)
    return failure(std::string{"a move has failed"});
  rate made{.bytes_per_s = static_cast<double>(bytes_.load()) / took.count()};
  if (!took_.empty()) {
    auto middle = took_.begin() + static_cast<std::ptrdiff_t>(took_.size() / 2);
    std::ranges::nth_element(took_, middle);
    made.median = *middle;
  }
  return made;
}

} // namespace

result<std::unique_ptr<pair>, std::string> pair::make(kind what,
                                                      const device_names& devices) {
  auto made = std::make_unique<connected>();
  if (auto opened = made->open(what, devices); !opened)
    return failure(opened.error());
  if (auto met = made->meet(); !met)
    return failure(met.error());
  return std::unique_ptr<pair>{std::move(made)};
}

} // namespace perigee::app::transfer_bench
