/// \file
/// http_session: one client's connection. For .cpp files only: Boost.Beast is not cheap
/// to include.
#pragma once

#include "actors/gateway/http_call.hpp"
#include "actors/gateway/http_probe.hpp"
#include "actors/gateway/http_request.hpp"
#include "actors/gateway/http_settings.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace perigee::gateway {

class http_session;

/// What the sessions of one server share.
struct http_floor {
  const http_settings& how;
  http_probe& counts;
  front_desk* desk = nullptr;
  std::map<http_session*, std::shared_ptr<http_session>> sessions = {};
  std::array<char, (std::size_t{64} << 10)> scratch; ///< For the read at hand.
  std::uint64_t calls = 0;                           ///< Numbered so far.
  std::uint64_t ids = 0;                             ///< Made so far.
  std::size_t bodies_bytes = 0;                      ///< Arriving, as announced.
  bool closing = false;                              ///< No more calls are taken.
  std::function<void()> on_empty = {};               ///< The last session ended.
};

/// Reads requests one after another, hands each to the front desk, writes the answer.
///
/// One read is always open, so a client that goes is noticed at once. One deadline,
/// that of the phase at hand; the server's sweep() looks at it.
class http_session : public std::enable_shared_from_this<http_session> {
public:
  using clock = std::chrono::steady_clock;
  using socket = boost::asio::ip::tcp::socket;

  http_session(http_floor& floor, socket connection);

  void start();

  /// Tells the client that there is no room, and closes.
  void turn_away();

  /// Ends what has taken too long.
  void sweep(clock::time_point now);

  /// Ends after the answer at hand; at once if there is none. A request that has not
  /// arrived whole is refused.
  void close_when_idle();

  /// Ends now. Whoever serves a call is told that its client has gone.
  void close();

private:
  class line;

  enum class phase : std::uint8_t {
    idle,    ///< No byte of a request is here.
    head,    ///< Of a request.
    body,    ///< Of a request.
    serving, ///< The front desk has a call.
    last,    ///< The last answer goes out.
    linger,  ///< It is out; what the client still sends is thrown away.
    closed,
  };

  // -- in ---------------------------------------------------------------------
  void wait_to_read();
  bool read_some();
  void on_data();
  bool has_begun();
  void begin_head();
  void read_head();
  void on_head();
  bool is_framed();
  bool may_send_body();
  void make_request_id();
  void refuse_for_stop();
  void take_request_id();
  void read_body();
  void on_body();
  void release_body_bytes();
  void on_parse_error(const boost::system::error_code& error);
  void preflight(const destination& to);
  std::string_view header(std::string_view name) const;

  // -- out --------------------------------------------------------------------
  void refuse(const api_error& why, std::string allow = {});
  void respond(http_answer whole);
  void answer(http_answer whole);
  void begin_events();
  bool write_events(std::string_view events);
  void end_events();
  void end_call();
  std::string head_of(const http_answer& answer, bool has_length);
  void put(std::string_view bytes);
  void flush();
  void on_written(const boost::system::error_code& error, std::size_t bytes);
  void when_all_is_out();

  void enter(phase next, std::chrono::milliseconds limit);
  void no_limit();

  http_floor& floor_;
  socket socket_;
  phase phase_ = phase::idle;
  clock::time_point deadline_ = clock::time_point::max();
  clock::time_point write_deadline_ = clock::time_point::max();

  boost::beast::flat_buffer in_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>>
    parser_;
  destination to_;
  std::size_t body_bytes_ = 0; // of floor_.bodies_bytes
  bool has_skipped_ = false;   // an empty line before the request at hand
  bool keep_alive_ = false;
  bool is_head_ = false;   // the method
  bool is_chunked_ = true; // events are: not for HTTP/1.0
  std::string request_id_;
  std::vector<std::pair<std::string, std::string>> cors_;

  std::uint64_t call_ = 0; // 0: none is being served
  bool streaming_ = false;
  std::string out_;     // to be written
  std::string writing_; // by the write that is open
  std::size_t written_ = 0;
  bool has_write_ = false;
};

} // namespace perigee::gateway
