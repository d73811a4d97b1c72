#include "engine/cpu/thread_pool.hpp"

#include "engine/cpu/idle_processors.hpp"
#include "schemas/assert.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#  include <immintrin.h>
#endif

namespace perigee::engine::cpu {
namespace {

// A share of a call's chunks: those from `next` to `end`, of the call `number`. In one
// word, so that who comes late can't take a chunk of a later call with the body of an
// earlier one.
struct share {
  std::uint32_t number = 0;
  std::uint16_t next = 0;
  std::uint16_t end = 0;
};
static_assert(std::atomic<share>::is_always_lock_free, "taking a chunk never waits");

constexpr std::size_t chunks_max = 65535;
constexpr std::size_t chunks_per_thread = 8; // what a slow thread can hold up: 1/8

// A pause is 40 to 140 cycles: 30 to 50 microseconds.
constexpr int spins = 1000;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

std::size_t processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0)
    return 1;
  return static_cast<std::size_t>(CPU_COUNT(&set));
}

void pin_to(std::thread& helper, std::size_t processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  // Without it the helper floats, which is right too.
  static_cast<void>(
    ::pthread_setaffinity_np(helper.native_handle(), sizeof(set), &set));
}

} // namespace

struct thread_pool::shared {
  struct alignas(64) own {
    std::atomic<share> chunks{share{}};
  };

  // Of the current call. A helper reads them before it takes a chunk, and uses them
  // only if it got one: then they are those of the chunk's call.
  std::atomic<range_call> call{nullptr};
  std::atomic<void*> body{nullptr};
  std::atomic<std::size_t> count{0};
  std::atomic<std::size_t> chunk{1};

  alignas(64) std::atomic<std::uint32_t> number{0}; // of calls so far
  alignas(64) std::atomic<std::uint32_t> left{0};   // chunks not yet done
  std::atomic<bool> ending{false};

  int spin = spins;
  std::vector<own> shares;
  std::vector<std::thread> helpers;

  explicit shared(std::size_t threads) : shares(threads) {}

  void work(std::size_t thread, std::uint32_t of);
  void help(std::size_t thread);
  void deal(std::size_t chunks, std::uint32_t of);
  void await_end();

  template <class T>
  T await_change(const std::atomic<T>& of, T old) const;
};

// Waits until `of` isn't `old`, and says what it is.
template <class T>
T thread_pool::shared::await_change(const std::atomic<T>& of, T old) const {
  for (int i = 0; i < spin; ++i) {
    if (auto now = of.load(std::memory_order_acquire); now != old)
      return now;
    pause();
  }
  of.wait(old, std::memory_order_acquire);
  return of.load(std::memory_order_acquire);
}

// Does chunks of call `of` while there are any: its own first, then the others'.
void thread_pool::shared::work(std::size_t thread, std::uint32_t of) {
  for (std::size_t i = 0; i < shares.size(); ++i) {
    auto& from = shares[(thread + i) % shares.size()].chunks;
    auto now = from.load(std::memory_order_acquire);
    while (now.number == of && now.next < now.end) {
      auto* what = call.load(std::memory_order_relaxed);
      auto* on = body.load(std::memory_order_relaxed);
      auto items = count.load(std::memory_order_relaxed);
      auto size = chunk.load(std::memory_order_relaxed);
      auto begin = now.next * size;
      auto taken = now;
      ++taken.next;
      if (!from.compare_exchange_weak(now, taken, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        continue;
      what(on, begin, std::min(begin + size, items), thread);
      if (left.fetch_sub(1, std::memory_order_acq_rel) == 1)
        left.notify_one();
      now = from.load(std::memory_order_acquire);
    }
  }
}

void thread_pool::shared::help(std::size_t thread) {
  std::uint32_t seen = 0;
  while (true) {
    seen = await_change(number, seen);
    if (ending.load(std::memory_order_acquire))
      return;
    work(thread, seen);
  }
}

void thread_pool::shared::deal(std::size_t chunks, std::uint32_t of) {
  for (std::size_t i = 0; i < shares.size(); ++i) {
    auto first = chunks * i / shares.size();
    auto last = chunks * (i + 1) / shares.size();
    shares[i].chunks.store(
      {of, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(last)},
      std::memory_order_release);
  }
}

void thread_pool::shared::await_end() {
  while (auto now = left.load(std::memory_order_acquire))
    await_change(left, now);
}

thread_pool::thread_pool(pool_settings how)
  : shared_(std::make_unique<shared>(how.threads)) {
  PERIGEE_ASSERT(how.threads >= 1 && how.threads <= threads_max, "1 to threads_max");
  // Who spins would take the processor from who has work.
  if (how.threads > processors())
    shared_->spin = 0;
  auto idle
    = how.pin && how.threads > 1 ? idle_processors() : std::vector<std::size_t>{};
  for (std::size_t i = 1; i < how.threads; ++i) {
    shared_->helpers.emplace_back([it = shared_.get(), i] { it->help(i); });
    if (idle.size() >= how.threads)
      pin_to(shared_->helpers.back(), idle[i]);
  }
}

thread_pool::~thread_pool() {
  shared_->ending.store(true, std::memory_order_release);
  shared_->number.fetch_add(1, std::memory_order_acq_rel);
  shared_->number.notify_all();
  for (auto& one : shared_->helpers)
    one.join();
}

std::size_t thread_pool::threads() const {
  return shared_->shares.size();
}

void thread_pool::run_ranges(std::size_t count, std::size_t grain, range_call call,
                             void* body) {
  grain = std::max<std::size_t>(grain, 1);
  if (threads() == 1 || count <= grain) {
    if (count > 0)
      call(body, 0, count, 0);
    return;
  }
  auto wanted = std::min(threads() * chunks_per_thread, chunks_max);
  auto chunk = std::max(grain, (count + wanted - 1) / wanted);
  auto chunks = (count + chunk - 1) / chunk;
  auto& it = *shared_;
  it.call.store(call, std::memory_order_relaxed);
  it.body.store(body, std::memory_order_relaxed);
  it.count.store(count, std::memory_order_relaxed);
  it.chunk.store(chunk, std::memory_order_relaxed);
  it.left.store(static_cast<std::uint32_t>(chunks), std::memory_order_relaxed);
  auto number = it.number.load(std::memory_order_relaxed) + 1;
  it.deal(chunks, number);
  it.number.store(number, std::memory_order_release);
  it.number.notify_all();
  it.work(0, number);
  it.await_end();
}

} // namespace perigee::engine::cpu
