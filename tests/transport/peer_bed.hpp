/// \file
/// Two "processes" in one test, each with its own segments and transport.
#pragma once

#include "tests/transport/recorder.hpp"
#include "transport/peer.hpp"

#include <cstring>
#include <span>
#include <thread>

namespace perigee::transport::test {

/// Writes down what a transport tells of its peers.
class peer_log {
public:
  on_peer pen() {
    return [this](peer_id who, const peer_news& what) {
      std::lock_guard held{mutex_};
      told_.emplace_back(who, what);
      news_.notify_all();
    };
  }

  /// Waits for it. What does not come within a minute fails the test.
  peer_news next_of(peer_id who, peer_state state) {
    std::unique_lock held{mutex_};
    const peer_news* found = nullptr;
    REQUIRE(news_.wait_for(held, std::chrono::minutes{1},
                           [&] { return (found = find(who, state)) != nullptr; }));
    return *found;
  }

  bool told(peer_id who, peer_state state) {
    std::lock_guard held{mutex_};
    return find(who, state);
  }

  std::size_t count(peer_id who, peer_state state) {
    std::lock_guard held{mutex_};
    return static_cast<std::size_t>(
      std::count_if(told_.begin(), told_.end(), [&](const auto& one) {
        return one.first == who && one.second.state == state;
      }));
  }

private:
  const peer_news* find(peer_id who, peer_state state) const {
    for (const auto& [name, what] : told_)
      if (name == who && what.state == state)
        return &what;
    return nullptr;
  }

  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<std::pair<peer_id, peer_news>> told_;
};

/// Waits, at most a minute, for what another thread is about to bring about.
template <class Condition>
bool comes_true(Condition what) {
  auto until = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  while (!what()) {
    if (std::chrono::steady_clock::now() > until)
      return false;
    std::this_thread::yield();
  }
  return true;
}

/// What would be a process.
struct process {
  segment_table segments;
  peer_log peers;
  std::unique_ptr<peer_transport> subject;
};

/// Two processes that don't know each other yet, and what differs between back ends in
/// how a test has to treat them.
class pair_bed {
public:
  virtual ~pair_bed() = default;

  virtual process& left() = 0;
  virtual process& right() = 0;

  /// Memory that the back end can show to peers; zeros.
  virtual std::shared_ptr<std::byte> allocate(process& whose, std::size_t bytes) {
    static_cast<void>(whose);
    return {new std::byte[bytes]{}, std::default_delete<std::byte[]>{}};
  }

  /// At most so many moves may be outstanding in a process...
  static constexpr std::size_t outstanding_max = 8;

  /// ... so many peers known, or expected...
  static constexpr std::size_t peers_max = 4;

  /// ... and so many segments of one peer.
  static constexpr std::size_t segments_max = 4;
};

using make_pair_bed = std::function<std::unique_ptr<pair_bed>()>;

/// Checks all that peer.hpp promises. Makes a bed for each property.
void conforms(const make_pair_bed& make);

inline bool are_all(std::span<const std::byte> bytes, std::byte what) {
  return bytes.front() == what // and each is as the next
         && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

/// Memory of a process with known bytes, as a segment of its table. Much of it is
/// written and compared at once: byte by byte takes long where every access is looked at.
class peer_memory {
public:
  peer_memory(pair_bed& bed, process& whose, segment_id id, unsigned char salt,
              geometry shape = small, std::uint32_t blocks = blocks_total)
    : shape_(shape), bytes_(bed.allocate(whose, blocks * shape.block_bytes())) {
    fill_all(blocks * shape.block_bytes(), salt);
    REQUIRE(whose.segments.add({id, bytes_.get(), shape, blocks, bytes_}));
  }

  std::vector<std::byte> layer(std::uint32_t block, std::uint32_t layer) const {
    auto* begin = begin_of(block, layer);
    return {begin, begin + shape_.layer_bytes};
  }

  /// Whether a layer here has the bytes of one there.
  bool has(block_pair pair, std::uint32_t layer, const peer_memory& there) const {
    return std::memcmp(begin_of(pair.to, layer), there.begin_of(pair.from, layer),
                       shape_.layer_bytes)
           == 0;
  }

  /// The first block.
  void fill(std::byte with) {
    std::memset(bytes_.get(), std::to_integer<int>(with), shape_.block_bytes());
  }

  bool is_filled(std::byte with) const {
    return are_all({bytes_.get(), shape_.block_bytes()}, with);
  }

  std::weak_ptr<std::byte> watch_life() const {
    return bytes_;
  }

private:
  std::byte* begin_of(std::uint32_t block, std::uint32_t layer) const {
    return bytes_.get() + block * shape_.block_bytes() + layer * shape_.layer_bytes;
  }

  /// All bytes tell where they are, within a period.
  void fill_all(std::size_t total, unsigned char salt) {
    constexpr std::size_t period = 256 * 251;
    auto* begin = bytes_.get();
    for (std::size_t at = 0; at < std::min(total, period); ++at)
      begin[at] = static_cast<std::byte>(salt + at * 31 + at / 251);
    for (std::size_t at = period; at < total; at += period)
      std::memcpy(begin + at, begin, std::min(period, total - at));
  }

  geometry shape_;
  std::shared_ptr<std::byte> bytes_;
};

/// The processes of a bed, connected, with a segment each that the other has learnt of.
struct connected_pair {
  static constexpr segment_id left_segment{1}, right_segment{2};
  static constexpr peer_id left_name{101}, right_name{102}; // as the other one says

  explicit connected_pair(const make_pair_bed& make, geometry shape = small,
                          std::uint32_t blocks = blocks_total)
    : bed(make()), left_memory(*bed, bed->left(), left_segment, 1, shape, blocks),
      right_memory(*bed, bed->right(), right_segment, 99, shape, blocks) {
    REQUIRE(right().expect(left_name, key(1), std::chrono::minutes{1}));
    REQUIRE(left().connect(right_name, right().here(), key(1)));
    bed->left().peers.next_of(right_name, peer_state::up);
    bed->right().peers.next_of(left_name, peer_state::up);
    REQUIRE(left().learn(right_name, right().describe(right_segment).value()));
    REQUIRE(right().learn(left_name, left().describe(left_segment).value()));
  }

  static ticket key(unsigned char number) {
    ticket made;
    made.secret.fill(std::byte{number});
    return made;
  }

  peer_transport& left() const {
    return *bed->left().subject;
  }

  peer_transport& right() const {
    return *bed->right().subject;
  }

  std::unique_ptr<pair_bed> bed;
  peer_memory left_memory, right_memory;
};

} // namespace perigee::transport::test
