/// \file
/// http_server: clients' sockets, on one thread.
#pragma once

#include "actors/gateway/http_call.hpp"
#include "actors/gateway/http_probe.hpp"
#include "actors/gateway/http_settings.hpp"
#include "schemas/result.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace perigee::gateway {

/// HTTP/1.1 and 1.0, with keep-alive, pipelining, and server-sent events.
///
/// One thread of its own does all input and output, and all calls of the front desk.
/// Every wait has a limit, every buffer too: see http_settings. A client that closes
/// its connection, or its sending half, is gone.
class http_server {
public:
  /// Listens. Takes nobody in before start(). Fails with a sentence that names the
  /// address. Raises the process's limit of open files, if it must and may.
  static result<std::unique_ptr<http_server>, std::string> open(http_settings how);

  /// Ends at once: whoever is connected is disconnected.
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  /// The port that it listens at.
  std::uint16_t port() const;

  /// Calls go to `desk`, which outlives the server's thread. Once.
  void start(front_desk& desk);

  /// Runs `job` on the server's thread, after what was posted before. From any thread,
  /// also before start(); after stop() it may be dropped.
  void post(std::function<void()> job);

  /// Listens no more, closes idle connections, refuses requests that have not arrived
  /// whole, tells the front desk, lets open calls end within `limit`, and abandons
  /// those that do not. Returns when the thread has ended. From any thread but the
  /// server's.
  void stop(std::chrono::milliseconds limit);

  const http_probe& probe() const;

private:
  class body;
  explicit http_server(std::unique_ptr<body> all);

  std::unique_ptr<body> body_;
};

} // namespace perigee::gateway
