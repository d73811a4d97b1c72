/// \file
/// greeting: how a connection begins, until both sides know whom they speak to.
#pragma once

#include "transport/streams/event_loop.hpp"
#include "transport/streams/frame.hpp"
#include "transport/streams/stream.hpp"

namespace perigee::transport::streams {

/// Has a limit, and tells once what came of it, from a task of its own: also to an owner
/// that has destroyed it since. One that is destroyed sooner tells nothing. Reads
/// nothing that comes after the greeting.
class greeting {
public:
  using on_end = std::function<void(result<std::shared_ptr<stream>, loss>)>;
  using judge = std::function<bool(const hello&)>;

  /// As who connects: shows `shown`.
  greeting(event_loop& loop, std::shared_ptr<stream> over, const hello& shown,
           std::chrono::nanoseconds limit, on_end then);

  /// As who accepts: welcomes whoever `is_good` says so of.
  greeting(event_loop& loop, std::shared_ptr<stream> over, judge is_good,
           std::chrono::nanoseconds limit, on_end then);

  greeting(const greeting&) = delete;
  greeting& operator=(const greeting&) = delete;
  ~greeting();

private:
  enum class step : std::uint8_t { shake, say, hear, over };

  void begin(std::chrono::nanoseconds limit);
  void on_events();
  bool advance();
  bool shake();
  bool say();
  bool hear();
  void on_hello();
  void on_welcome();
  void end(std::optional<loss> why);

  event_loop& loop_;
  std::shared_ptr<stream> stream_;
  const judge is_good_; // null for who connects
  const on_end then_;
  step at_ = step::shake;
  bool is_welcome_ = false;
  std::vector<std::byte> saying_;
  std::size_t said_ = 0;
  std::vector<std::byte> hearing_;
  std::size_t heard_ = 0;
  event_loop::watch_id watch_ = 0;
  event_loop::timer_id limit_ = 0;
};

} // namespace perigee::transport::streams
