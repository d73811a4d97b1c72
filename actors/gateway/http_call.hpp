/// \file
/// What the HTTP server says to whoever serves requests, and hears from it.
#pragma once

#include "actors/gateway/api_error.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perigee::gateway {

enum class route : std::uint8_t {
  chat,
  completion,
  models,
  model,
  tokenize,
  detokenize,
  health,
  ready,
  live,
  version,
  metrics,
};

/// A W3C trace id; 0 if there is none.
struct trace_id {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  auto operator<=>(const trace_id&) const = default;
};

/// A client's call, whole.
struct http_call {
  std::uint64_t number = 0; ///< Never repeats under one server.
  route to{};
  std::string model; ///< What stands behind `/v1/models/`.
  std::string body;
  std::string request_id; ///< The client's, or one made for it.
  trace_id trace;
  std::chrono::nanoseconds ttft_limit{}; ///< 0: none was named.
  std::chrono::nanoseconds tpot_limit{};
};

struct http_answer {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> fields = {}; ///< More headers.
};

/// As an answer, with what headers its code asks for.
http_answer to_answer(const api_error& why);

/// The way back to the client of one call. Of the server's thread alone.
///
/// A call has one answer(), or one begin_events(), any number of write() and one
/// end_events(). After its client has gone, all of them do nothing.
class http_line {
public:
  virtual ~http_line() = default;

  virtual void answer(http_answer whole) = 0;

  virtual void begin_events() = 0;

  /// Whole events. False if the client has gone, or reads so slowly that it was
  /// disconnected: then the front desk has been told by abandon(), or is about to be.
  virtual bool write(std::string_view events) = 0;

  virtual void end_events() = 0;
};

/// Serves calls. All is called on the server's thread, and must not keep it.
class front_desk {
public:
  virtual ~front_desk() = default;

  /// To be answered over `line`, at once or later.
  virtual void take(http_call call, std::shared_ptr<http_line> line) = 0;

  /// The client of that call has gone before its answer was whole. Told once, at any
  /// moment, also while nothing is being written.
  virtual void abandon(std::uint64_t number) = 0;

  /// From time to time: for what has taken too long.
  virtual void tick() {}

  /// The server stops: no more calls are taken, and what is open is cut off soon. Told
  /// once.
  virtual void close() {}
};

} // namespace perigee::gateway
