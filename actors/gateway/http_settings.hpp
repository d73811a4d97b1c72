/// \file
/// http_settings: what the HTTP server takes, and for how long.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace perigee::gateway {

struct http_settings {
  std::string address = "127.0.0.1"; ///< An IP address, of version 4 or 6.
  std::uint16_t port = 8000;         ///< 0: any that is free.

  std::vector<std::string> api_keys = {}; ///< Bearer tokens; empty: everybody may.
  std::vector<std::string> origins = {};  ///< Of web pages that may call; `*`: all.

  std::size_t connections_max = 8192;
  std::size_t header_bytes_max = std::size_t{16} << 10;
  std::size_t body_bytes_max = std::size_t{16} << 20;
  std::size_t bodies_bytes_max = std::size_t{1} << 30; ///< Arriving, all together.

  /// What a client may have sent ahead while an earlier request is served.
  std::size_t pipelined_bytes_max = std::size_t{64} << 10;

  /// Of a stream, not taken by its client yet. Who reads slower is disconnected.
  std::size_t unsent_bytes_max = std::size_t{1} << 20;

  std::chrono::milliseconds idle_limit{75'000}; ///< Between requests.
  std::chrono::milliseconds header_limit{10'000};
  std::chrono::milliseconds body_limit{60'000};
  std::chrono::milliseconds write_limit{30'000}; ///< Without a byte taken.
  std::chrono::milliseconds linger_limit{2'000}; ///< For a client to read an error.

  std::uint64_t id_seed = 1; ///< Of the request ids that clients did not choose.
};

} // namespace perigee::gateway
