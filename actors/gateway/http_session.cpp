#include "actors/gateway/http_session.hpp"

#include "actors/runtime/name.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace perigee::gateway {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

std::string hex(std::uint64_t number) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(number));
  return digits;
}

} // namespace

/// The front desk's end of a session, for one call.
class http_session::line final : public http_line {
public:
  line(std::weak_ptr<http_session> to, std::uint64_t call)
    : to_(std::move(to)), call_(call) {}

  void answer(http_answer whole) override {
    if (auto session = find())
      session->answer(std::move(whole));
  }

  void begin_events() override {
    if (auto session = find())
      session->begin_events();
  }

  bool write(std::string_view events) override {
    auto session = find();
    return session && session->write_events(events);
  }

  void end_events() override {
    if (auto session = find())
      session->end_events();
  }

private:
  std::shared_ptr<http_session> find() const {
    auto session = to_.lock();
    return session && session->call_ == call_ ? session : nullptr;
  }

  std::weak_ptr<http_session> to_;
  std::uint64_t call_;
};

http_session::http_session(http_floor& floor, socket connection)
  : floor_(floor), socket_(std::move(connection)) {}

void http_session::start() {
  error_code ignored;
  socket_.set_option(boost::asio::ip::tcp::no_delay{true}, ignored);
  socket_.non_blocking(true, ignored);
  enter(phase::idle, floor_.how.header_limit); // the first request is due soon
  wait_to_read();
}

void http_session::turn_away() {
  start();
  make_request_id();
  keep_alive_ = false;
  respond(to_answer({api_code::too_many_connections,
                     "the server has as many connections as it takes", "", 1}));
}

void http_session::enter(phase next, std::chrono::milliseconds limit) {
  phase_ = next;
  deadline_ = clock::now() + limit;
}

void http_session::no_limit() {
  deadline_ = clock::time_point::max();
}

void http_session::sweep(clock::time_point now) {
  if (now >= write_deadline_) {
    floor_.counts.timed_out();
    return close();
  }
  if (now < deadline_)
    return;
  if (phase_ != phase::idle && phase_ != phase::linger)
    floor_.counts.timed_out();
  if (phase_ == phase::head || phase_ == phase::body)
    return refuse(
      {api_code::request_timeout,
       phase_ == phase::head ? "the headers took too long" : "the body took too long",
       "",
       {}});
  close();
}

void http_session::close_when_idle() {
  keep_alive_ = false;
  if (phase_ == phase::idle)
    close();
  else if (phase_ == phase::head || phase_ == phase::body)
    refuse_for_stop();
}

void http_session::refuse_for_stop() {
  refuse({api_code::not_ready, "the server is stopping", "", 1});
}

void http_session::close() {
  if (phase_ == phase::closed)
    return;
  auto self = shared_from_this();
  phase_ = phase::closed;
  deadline_ = write_deadline_ = clock::time_point::max();
  release_body_bytes();
  error_code ignored;
  socket_.close(ignored);
  floor_.counts.disconnected();
  if (auto call = std::exchange(call_, 0)) {
    floor_.counts.abandoned();
    boost::asio::post(socket_.get_executor(), // not from inside a call of the desk's
                      [desk = floor_.desk, call] { desk->abandon(call); });
  }
  floor_.sessions.erase(this);
  if (floor_.sessions.empty() && floor_.on_empty)
    floor_.on_empty();
}

// -- in -------------------------------------------------------------------------

/// Waits for bytes without a buffer, of which thousands of idle clients have no need.
void http_session::wait_to_read() {
  socket_.async_wait(socket::wait_read,
                     [self = shared_from_this()](const error_code& error) {
                       if (!error && self->read_some())
                         self->wait_to_read();
                     });
}

/// False if the connection is closed.
bool http_session::read_some() {
  if (phase_ == phase::closed)
    return false;
  error_code error;
  auto bytes = socket_.read_some(boost::asio::buffer(floor_.scratch), error);
  if (error == boost::asio::error::would_block)
    return true;
  if (error) {
    close(); // gone, or shut its half: nobody waits for an answer
    return false;
  }
  auto room = in_.prepare(bytes);
  std::memcpy(room.data(), floor_.scratch.data(), bytes);
  in_.commit(bytes);
  on_data();
  return phase_ != phase::closed;
}

void http_session::on_data() {
  if (phase_ == phase::idle && has_begun())
    begin_head();
  if (phase_ == phase::head)
    read_head();
  if (phase_ == phase::body)
    read_body();
  if (phase_ == phase::linger || (phase_ == phase::last && !keep_alive_))
    in_.consume(in_.size());
  else if (in_.size() > floor_.how.pipelined_bytes_max && phase_ != phase::head)
    close();
}

/// Whether a byte of a request is here. One empty line may stand before it: there are
/// clients that put one behind a body.
bool http_session::has_begun() {
  std::string_view ahead{static_cast<const char*>(in_.data().data()), in_.size()};
  if (!has_skipped_ && ahead == "\r")
    return false;
  if (!has_skipped_ && ahead.starts_with("\r\n")) {
    has_skipped_ = true;
    in_.consume(2);
  }
  return in_.size() > 0;
}

void http_session::make_request_id() {
  request_id_ = hex(rt::mix(floor_.how.id_seed + ++floor_.ids));
}

void http_session::take_request_id() {
  if (auto id = header("x-request-id"); is_request_id(id))
    request_id_ = id;
}

void http_session::begin_head() {
  has_skipped_ = false;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(floor_.how.header_bytes_max));
  parser_->body_limit(floor_.how.body_bytes_max);
  make_request_id();
  cors_.clear();
  enter(phase::head, floor_.how.header_limit);
}

void http_session::read_head() {
  error_code error;
  auto used = parser_->put(in_.data(), error);
  in_.consume(used);
  if (error == http::error::need_more) {
    if (in_.size() > floor_.how.header_bytes_max)
      on_parse_error(http::error::header_limit);
    return;
  }
  if (error)
    return on_parse_error(error);
  if (parser_->is_header_done())
    on_head();
}

std::string_view http_session::header(std::string_view name) const {
  auto value = parser_->get()[boost::beast::string_view{name.data(), name.size()}];
  return {value.data(), value.size()};
}

void http_session::on_head() {
  const auto& head = parser_->get();
  std::string_view method{head.method_string().data(), head.method_string().size()};
  keep_alive_ = parser_->keep_alive() && !floor_.closing;
  is_head_ = method == "HEAD";
  is_chunked_ = head.version() >= 11;
  cors_ = cors_fields(header("origin"), floor_.how.origins);
  take_request_id();
  if (!is_framed())
    return refuse(
      {api_code::bad_http,
       "header `Transfer-Encoding` must be `chunked`, once, and of HTTP/1.1",
       "",
       {}});
  if (head.version() >= 11 && header("host").empty())
    return refuse({api_code::bad_http, "header `Host` is missing", "", {}});
  auto found = find_destination({head.target().data(), head.target().size()});
  if (!found)
    return refuse({api_code::not_found, "nothing has this path", "", {}});
  to_ = *found;
  if (method == "OPTIONS" && parser_->is_done())
    return preflight(to_);
  if (!takes(to_, method))
    return refuse({api_code::method_not_allowed,
                   "this path takes " + std::string{methods_of(to_)},
                   "",
                   {}},
                  std::string{methods_of(to_)});
  if (to_.is_guarded && !floor_.how.api_keys.empty()
      && !is_authorized(header("authorization"), floor_.how.api_keys))
    return refuse({api_code::invalid_api_key,
                   "header `Authorization` must be `Bearer` and an API key of this "
                   "server's",
                   "",
                   {}});
  if (!may_send_body())
    return;
  enter(phase::body, floor_.how.body_limit);
}

/// Whether it is certain where the body ends. What Beast does not know as chunked, it
/// takes for no body at all, and what follows for a request.
bool http_session::is_framed() {
  const auto& head = parser_->get();
  auto codings = head.count(boost::beast::http::field::transfer_encoding);
  return codings == 0
         || (codings == 1 && head.version() >= 11
             && is_same_word(header("transfer-encoding"), "chunked"));
}

bool http_session::may_send_body() {
  if (auto expected = header("expect");
      !expected.empty() && !is_same_word(expected, "100-continue")) {
    refuse({api_code::expectation_failed,
            "header `Expect` may be `100-continue` alone",
            "",
            {}});
    return false;
  }
  if (parser_->is_done())
    return true;
  if (to_.is_post && !is_json_type(header("content-type"))) {
    refuse({api_code::unsupported_media_type,
            "header `Content-Type` must be application/json, in UTF-8",
            "",
            {}});
    return false;
  }
  if (auto coding = header("content-encoding");
      !coding.empty() && coding != "identity") {
    refuse({api_code::unsupported_media_type, "a body may not be compressed", "", {}});
    return false;
  }
  body_bytes_ = static_cast<std::size_t>(
    parser_->content_length().value_or(floor_.how.body_bytes_max));
  floor_.bodies_bytes += body_bytes_;
  if (floor_.bodies_bytes > floor_.how.bodies_bytes_max) {
    refuse({api_code::queue_full, "too many bodies are arriving", "", 1});
    return false;
  }
  if (is_same_word(header("expect"), "100-continue") && in_.size() == 0)
    put("HTTP/1.1 100 Continue\r\n\r\n");
  return true;
}

void http_session::read_body() {
  error_code error;
  while (!parser_->is_done() && in_.size() > 0) {
    auto used = parser_->put(in_.data(), error);
    in_.consume(used);
    if (error == http::error::need_more)
      return;
    if (error)
      return on_parse_error(error);
  }
  if (parser_->is_done())
    on_body();
}

void http_session::release_body_bytes() {
  floor_.bodies_bytes -= std::exchange(body_bytes_, 0);
}

void http_session::on_body() {
  release_body_bytes();
  http_call call;
  call.to = to_.to;
  call.model = to_.model;
  auto read = read_headers(
    call, [this](auto name) { return header(name); }, request_id_);
  if (!read)
    return refuse(read.error());
  if (floor_.closing)
    return refuse_for_stop();
  call.body = std::move(parser_->get().body());
  call.number = call_ = ++floor_.calls;
  streaming_ = false;
  phase_ = phase::serving;
  no_limit();
  floor_.counts.called();
  floor_.desk->take(std::move(call), std::make_shared<line>(weak_from_this(), call_));
}

void http_session::on_parse_error(const error_code& error) {
  take_request_id(); // as far as headers were read
  if (error == http::error::header_limit)
    return refuse({api_code::header_too_large,
                   "request line and headers may have "
                     + std::to_string(floor_.how.header_bytes_max) + " bytes",
                   "",
                   {}});
  if (error == http::error::body_limit)
    return refuse(
      {api_code::body_too_large,
       "a body may have " + std::to_string(floor_.how.body_bytes_max) + " bytes",
       "",
       {}});
  floor_.counts.malformed();
  refuse({api_code::bad_http, "no valid HTTP: " + error.message(), "", {}});
}

void http_session::preflight(const destination& to) {
  http_answer answer{204, "", ""};
  answer.fields.emplace_back("Allow", methods_of(to));
  if (!cors_.empty())
    for (auto& field :
         preflight_fields(methods_of(to), header("access-control-request-headers")))
      answer.fields.push_back(std::move(field));
  respond(std::move(answer));
}

} // namespace perigee::gateway
