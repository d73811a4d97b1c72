// The writing half of http_session.
#include "actors/gateway/http_session.hpp"
#include "schemas/assert.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/status.hpp>

#include <cstdio>
#include <utility>

namespace perigee::gateway {

namespace http = boost::beast::http;
using boost::system::error_code;

/// The connection ends after it if nobody can say where the next request begins.
void http_session::refuse(const api_error& why, std::string allow) {
  release_body_bytes();
  if (!parser_ || !parser_->is_done() || why.code == api_code::bad_http)
    keep_alive_ = false;
  auto answer = to_answer(why);
  if (!allow.empty())
    answer.fields.emplace_back("Allow", std::move(allow));
  respond(std::move(answer));
}

void http_session::respond(http_answer whole) {
  floor_.counts.answered(whole.status);
  out_ += head_of(whole, true);
  if (!is_head_)
    out_ += whole.body;
  end_call();
}

void http_session::answer(http_answer whole) {
  PERIGEE_ASSERT(!streaming_, "an answer after a stream has begun");
  respond(std::move(whole));
}

void http_session::begin_events() {
  PERIGEE_ASSERT(!streaming_, "a second stream for one call");
  streaming_ = true;
  if (!is_chunked_)
    keep_alive_ = false; // its end is the connection's
  floor_.counts.answered(200);
  http_answer head{200, "", "text/event-stream; charset=utf-8"};
  head.fields.emplace_back("Cache-Control", "no-cache");
  head.fields.emplace_back("X-Accel-Buffering", "no");
  if (is_chunked_)
    head.fields.emplace_back("Transfer-Encoding", "chunked");
  put(head_of(head, false));
}

bool http_session::write_events(std::string_view events) {
  if (events.empty())
    return true;
  auto unsent = out_.size() + writing_.size() - written_;
  if (unsent + events.size() > floor_.how.unsent_bytes_max) {
    floor_.counts.overflowed();
    close();
    return false;
  }
  if (!is_chunked_) {
    put(events);
    return true;
  }
  char size[20];
  auto length = std::snprintf(size, sizeof size, "%zx\r\n", events.size());
  out_.append(size, static_cast<std::size_t>(length)).append(events);
  put("\r\n");
  return true;
}

void http_session::end_events() {
  if (is_chunked_)
    out_ += "0\r\n\r\n";
  end_call();
}

/// The answer at hand is whole, though not out.
void http_session::end_call() {
  call_ = 0;
  streaming_ = false;
  phase_ = phase::last;
  no_limit();
  flush();
}

std::string http_session::head_of(const http_answer& answer, bool has_length) {
  auto text = http::obsolete_reason(static_cast<http::status>(answer.status));
  std::string out = "HTTP/1.1 " + std::to_string(answer.status) + ' ';
  out.append(text.data(), text.size()).append("\r\n");
  auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty())
      out.append(name).append(": ").append(value).append("\r\n");
  };
  add("Content-Type", answer.type);
  if (has_length && answer.status != 204)
    add("Content-Length", std::to_string(answer.body.size()));
  add("x-request-id", request_id_);
  for (const auto& [name, value] : answer.fields)
    add(name, value);
  for (const auto& [name, value] : cors_)
    add(name, value);
  add("Connection", keep_alive_ ? "keep-alive" : "close");
  return out.append("\r\n");
}

void http_session::put(std::string_view bytes) {
  out_ += bytes;
  flush();
}

void http_session::flush() {
  if (has_write_ || phase_ == phase::closed)
    return;
  if (written_ == writing_.size()) {
    writing_.clear();
    written_ = 0;
    std::swap(writing_, out_);
  }
  if (writing_.empty())
    return when_all_is_out();
  has_write_ = true;
  write_deadline_ = clock::now() + floor_.how.write_limit;
  socket_.async_write_some(
    boost::asio::buffer(writing_.data() + written_, writing_.size() - written_),
    [self = shared_from_this()](auto error, auto bytes) {
      self->on_written(error, bytes);
    });
}

void http_session::on_written(const error_code& error, std::size_t bytes) {
  has_write_ = false;
  write_deadline_ = clock::time_point::max();
  if (phase_ == phase::closed)
    return;
  if (error)
    return close();
  floor_.counts.wrote(bytes);
  written_ += bytes;
  flush();
}

void http_session::when_all_is_out() {
  if (phase_ != phase::last)
    return;
  if (!keep_alive_) {
    error_code ignored;
    socket_.shutdown(socket::shutdown_send, ignored);
    return enter(phase::linger, floor_.how.linger_limit);
  }
  parser_.reset();
  enter(phase::idle, floor_.how.idle_limit);
  if (in_.size() > 0) // sent ahead
    on_data();
}

} // namespace perigee::gateway
