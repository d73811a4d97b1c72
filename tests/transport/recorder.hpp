/// \file
/// Memory with known bytes, and who writes down what came of moves.
#pragma once

#include "transport/transport.hpp"

#include <catch2/catch.hpp>

#include <condition_variable>
#include <map>
#include <mutex>

namespace perigee::transport::test {

inline constexpr geometry small{.layer_bytes = 64, .layers = 3};
inline constexpr std::uint32_t blocks_total = 8;

/// All layers of some blocks.
inline move whole_blocks(segment_id from, segment_id to,
                         std::vector<block_pair> pairs) {
  move what;
  what.from = from;
  what.to = to;
  what.layers = {0, small.layers};
  what.pairs = std::move(pairs);
  return what;
}

/// A segment of `blocks` small blocks, all of whose bytes tell where they are.
class memory {
public:
  explicit memory(segment_id id, unsigned char salt = 0,
                  std::uint32_t blocks = blocks_total, geometry shape = small)
    : id_(id), shape_(shape), blocks_(blocks),
      bytes_(std::make_shared<std::vector<std::byte>>(blocks * shape.block_bytes())) {
    for (std::size_t at = 0; at < bytes_->size(); ++at)
      (*bytes_)[at] = static_cast<std::byte>(salt + at * 31 + at / 251);
  }

  segment as_segment() const {
    return {id_, bytes_->data(), shape_, blocks_, bytes_};
  }

  std::vector<std::byte> layer(std::uint32_t block, std::uint32_t layer) const {
    auto begin = bytes_->begin()
                 + static_cast<std::ptrdiff_t>(block * shape_.block_bytes()
                                               + layer * shape_.layer_bytes);
    return {begin, begin + static_cast<std::ptrdiff_t>(shape_.layer_bytes)};
  }

  std::weak_ptr<std::vector<std::byte>> watch_life() const {
    return bytes_;
  }

private:
  segment_id id_;
  geometry shape_;
  std::uint32_t blocks_;
  std::shared_ptr<std::vector<std::byte>> bytes_;
};

/// Writes down every outcome; one that comes twice fails the test.
class recorder {
public:
  on_done pen() {
    return [this](move_id id, const outcome& what) {
      std::lock_guard held{mutex_};
      twice_ = twice_ || !told_.emplace(id, what).second;
      order_.push_back(id);
      news_.notify_all();
    };
  }

  /// Waits for it. One that does not come within a minute fails the test.
  outcome of(move_id id) {
    std::unique_lock held{mutex_};
    REQUIRE(news_.wait_for(held, std::chrono::minutes{1},
                           [&] { return told_.contains(id); }));
    return told_.at(id);
  }

  fault fault_of(move_id id) {
    auto what = of(id);
    REQUIRE_FALSE(what);
    return what.error();
  }

  bool told(move_id id) {
    std::lock_guard held{mutex_};
    return told_.contains(id);
  }

  std::vector<move_id> order() {
    std::lock_guard held{mutex_};
    return order_;
  }

  bool any_twice() {
    std::lock_guard held{mutex_};
    return twice_;
  }

private:
  std::mutex mutex_;
  std::condition_variable news_;
  std::map<move_id, outcome> told_;
  std::vector<move_id> order_;
  bool twice_ = false;
};

} // namespace perigee::transport::test
