/// \file
/// zero_copy: whether a connection is better off without copying what it sends.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace perigee::transport::tcp {

/// Tries both ways on a connection's first large sends, and keeps to what costs the
/// sender less time for a byte. The kernel copies all the same where a path needs that
/// (to the same host, for one): then it is not tried further. Pure.
class zero_copy_trial {
public:
  /// Smaller sends are not worth it on any machine, and are not tried.
  static constexpr std::size_t bytes_min = std::size_t{32} << 10;

  static constexpr int sends_each_way = 16;

  explicit zero_copy_trial(bool is_available)
    : at_(is_available ? verdict::trying : verdict::copy) {}

  /// How the next large send should go.
  bool wants() const {
    return at_ == verdict::keep
           || (at_ == verdict::trying && kept_.sends <= copied_.sends);
  }

  /// Whether large sends are of interest at all.
  bool is_on() const {
    return at_ != verdict::copy;
  }

  void sent(bool was_kept, std::size_t bytes, std::chrono::nanoseconds took);

  /// The kernel is done with what was sent without a copy, or has made one.
  void completed(bool was_copied, std::chrono::nanoseconds took);

private:
  enum class verdict : std::uint8_t { trying, keep, copy };

  struct cost {
    int sends = 0;
    std::size_t bytes = 0;
    std::chrono::nanoseconds took{};

    double each_byte() const {
      return static_cast<double>(took.count()) / static_cast<double>(bytes);
    }
  };

  void judge();

  verdict at_;
  cost kept_, copied_;
};

} // namespace perigee::transport::tcp
