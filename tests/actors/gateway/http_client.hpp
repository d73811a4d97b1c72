/// \file
/// A client's socket, for tests to do with as no library would.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace perigee::test {

struct http_reply {
  int status = 0;
  std::map<std::string, std::string> fields; ///< Names in lower case.
  std::string body;                          ///< Chunks joined.
};

/// One connection to 127.0.0.1. Whoever waits for what never comes gets nothing after
/// ten seconds.
class http_client {
public:
  explicit http_client(std::uint16_t port);
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  /// False if the server has closed.
  bool put(std::string_view bytes);

  /// The next reply, whole; nothing if the server closed or sent no HTTP. `has_body` is
  /// false for HEAD.
  std::optional<http_reply> reply(bool has_body = true);

  /// What came until `end` did, with it; nothing if it never did.
  std::optional<std::string> read_until(std::string_view end);

  /// Reads, and throws away, until the server closes. False if it never does.
  bool is_closed();

  void shut_writing();
  void shrink_receive_buffer();
  void close();

private:
  bool read_more();

  int socket_;
  std::string in_;
};

std::string get(std::string_view path, std::string_view more_headers = "");
std::string post(std::string_view path, std::string_view body,
                 std::string_view more_headers = "");

} // namespace perigee::test
