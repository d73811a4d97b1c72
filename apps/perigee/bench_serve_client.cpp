#include "apps/perigee/bench_serve_client.hpp"

#include "apps/perigee/bench_serve_answer.hpp"
#include "apps/perigee/replay/longest_tenth.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace perigee::app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using std::chrono::nanoseconds;
using clock = std::chrono::steady_clock;
using endpoints = asio::ip::tcp::resolver::results_type;

constexpr std::size_t error_body_bytes_max = std::size_t{64} << 10;
constexpr unsigned status_good = 200;
constexpr unsigned status_refused = 429;

/// How one request ended.
struct ending {
  unsigned status = 0;  ///< 0: there was no answer.
  std::string cause;    ///< Why it failed; empty if it was served.
  streamed_answer said; ///< As far as it came.
};

/// One request on a connection of its own. Lives until it has told its end.
class exchange : public std::enable_shared_from_this<exchange> {
public:
  using ear = std::function<void(const ending&)>;

  exchange(asio::io_context& on, clock::time_point begun, ear told)
    : stream_(on), begun_(begun), told_(std::move(told)) {
    parser_.body_limit(boost::none);
  }

  void start(const endpoints& to, http::request<http::string_body> request,
             std::chrono::seconds limit) {
    request_ = std::move(request);
    stream_.expires_at(begun_ + limit);
    stream_.async_connect(to, [me = shared_from_this()](error_code wrong, const auto&) {
      if (wrong)
        return me->end(me->word_of(wrong, "cannot_connect"));
      me->stream_.socket().set_option(asio::ip::tcp::no_delay{true}, wrong);
      me->write();
    });
  }

private:
  void write() {
    http::async_write(stream_, request_,
                      [me = shared_from_this()](error_code wrong, std::size_t) {
                        if (wrong)
                          return me->end(me->word_of(wrong, "cannot_send"));
                        me->read_head();
                      });
  }

  void read_head() {
    http::async_read_header(stream_, bytes_, parser_,
                            [me = shared_from_this()](error_code wrong, std::size_t) {
                              if (wrong)
                                return me->end(me->word_of(wrong, "no_answer"));
                              me->ending_.status = me->parser_.get().result_int();
                              me->read_on();
                            });
  }

  void read_on() {
    if (parser_.is_done())
      return end(verdict());
    http::async_read_some(stream_, bytes_, parser_,
                          [me = shared_from_this()](error_code wrong, std::size_t) {
                            if (!me->take_body())
                              me->end("no_events");
                            else if (wrong)
                              me->end(me->word_of(wrong, "broken_off"));
                            else
                              me->read_on();
                          });
  }

  /// False if an answer is none.
  bool take_body() {
    auto& body = parser_.get().body();
    if (ending_.status != status_good)
      return body.size() <= error_body_bytes_max;
    bool good = ending_.said.take(body, clock::now() - begun_);
    body.clear();
    return good;
  }

  std::string verdict() const {
    if (ending_.status != status_good) {
      auto code = error_code_in(parser_.get().body());
      return code.empty() ? "unnamed_error" : code;
    }
    if (!ending_.said.failure().empty())
      return ending_.said.failure();
    return ending_.said.is_whole() ? "" : "broken_off";
  }

  static std::string word_of(error_code wrong, const char* else_word) {
    return wrong == beast::error::timeout ? "client_deadline" : else_word;
  }

  void end(std::string cause) {
    error_code ignored;
    stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    ending_.cause = std::move(cause);
    told_(ending_);
  }

  beast::tcp_stream stream_;
  const clock::time_point begun_;
  ear told_;
  http::request<http::string_body> request_;
  beast::flat_buffer bytes_;
  http::response_parser<http::string_body> parser_;
  ending ending_;
};

/// All clients of a trace.
class crowd {
public:
  crowd(workload::request_source& trace, const client_settings& how,
        const std::function<void(std::size_t, std::size_t)>& told)
    : trace_(trace), how_(how), told_(told), timer_(all_) {}

  result<served_trace, std::string> run() {
    error_code wrong;
    asio::ip::tcp::resolver names{all_};
    at_ = names.resolve(how_.to.host, how_.to.port, wrong);
    if (wrong)
      return failure(how_.to.host + ':' + how_.to.port + ": " + wrong.message());
    if (auto nobody = find_nobody())
      return failure(*nobody);
    began_ = clock::now();
    wait_for_next();
    all_.run();
    if (fault_)
      return failure(*fault_);
    made_.gaps = gaps_.sum();
    return std::move(made_);
  }

private:
  /// Why there is no server, if there is none: better said once than by every request.
  std::optional<std::string> find_nobody() {
    error_code wrong;
    asio::ip::tcp::socket trial{all_};
    asio::connect(trial, at_, wrong);
    if (!wrong)
      return std::nullopt;
    return "nobody serves at " + how_.to.host + ':' + how_.to.port + ": "
           + wrong.message();
  }

  void wait_for_next() {
    auto got = trace_.next();
    if (!got) {
      fault_ = workload::to_string(got.error());
      all_.stop();
      return;
    }
    if (!*got)
      return;
    if ((*got)->think) {
      fault_ = "the trace has clients that wait for answers before they ask again: "
               "expected moments of arrival alone";
      all_.stop();
      return;
    }
    auto body = body_of(**got, how_.prompts); // before it is due
    timer_.expires_at(began_ + (*got)->arrival);
    timer_.async_wait(
      [this, one = std::move(**got), body = std::move(body)](error_code wrong) mutable {
        if (wrong)
          return;
        send(one, std::move(body));
        wait_for_next();
      });
  }

  void send(const workload::request& one, std::string body) {
    auto index = made_.outcomes.size();
    outcome begun;
    begun.arrived = one.arrival;
    begun.input_tokens = one.input_tokens;
    made_.outcomes.push_back(begun);
    if (open_ == how_.open_max)
      return hear(index, {0, "too_many_open", {}});
    ++open_;
    std::make_shared<exchange>(all_, began_ + one.arrival,
                               [this, index](const ending& how) {
                                 --open_;
                                 hear(index, how);
                               })
      ->start(at_, request_of(std::move(body)), how_.limit);
    told_(made_.outcomes.size(), ended_);
  }

  http::request<http::string_body> request_of(std::string body) const {
    http::request<http::string_body> made{http::verb::post,
                                          how_.to.path + "/completions", 11};
    bool is_v6 = how_.to.host.find(':') != std::string::npos;
    made.set(http::field::host,
             (is_v6 ? '[' + how_.to.host + ']' : how_.to.host) + ':' + how_.to.port);
    made.set(http::field::content_type, "application/json");
    made.set(http::field::user_agent, "perigee bench serve");
    made.set(http::field::connection, "close");
    if (!how_.api_key.empty())
      made.set(http::field::authorization, "Bearer " + how_.api_key);
    made.body() = std::move(body);
    made.prepare_payload();
    return made;
  }

  void hear(std::size_t index, const ending& how) {
    auto& of = made_.outcomes[index];
    of.ended = clock::now() - began_;
    made_.lasted = std::max(made_.lasted, of.ended);
    ++made_.answers[how.status == 0 ? "none" : std::to_string(how.status)];
    ++ended_;
    told_(made_.outcomes.size(), ended_);
    if (how.status == status_refused) {
      of.how = outcome::ending::refused;
      of.why = gateway::api_code::queue_full; // the cause by name is in refused_by
      ++made_.refused_by[how.cause];
    } else if (!how.cause.empty()) {
      of.how = outcome::ending::failed;
      of.why = gateway::api_code::internal_error; // as above
      ++made_.failed_by[how.cause];
    } else {
      of.how = outcome::ending::served;
      measure(of, how.said);
    }
  }

  void measure(outcome& of, const streamed_answer& said) {
    const auto& moments = said.moments();
    auto seen = static_cast<std::uint32_t>(moments.size());
    of.first_token = moments.empty() ? of.ended : of.arrived + moments.front();
    of.input_tokens = std::max(of.input_tokens, said.prompt_tokens());
    of.cached_tokens = said.cached_tokens();
    of.output_tokens = std::max(seen, said.output_tokens());
    made_.tokens_unseen += of.output_tokens - seen;
    longest_tenth longest{moments.empty() ? 0 : moments.size() - 1};
    for (std::size_t i = 1; i < moments.size(); ++i) {
      longest.add(moments[i] - moments[i - 1], 1);
      gaps_.add(moments[i] - moments[i - 1], 1);
    }
    of.tbt = longest.mean();
  }

  workload::request_source& trace_;
  const client_settings& how_;
  const std::function<void(std::size_t, std::size_t)>& told_;
  asio::io_context all_;
  asio::steady_timer timer_;
  endpoints at_;
  clock::time_point began_;
  std::size_t open_ = 0;
  std::size_t ended_ = 0;
  span_histogram gaps_;
  served_trace made_;
  std::optional<std::string> fault_;
};

} // namespace

result<server_address, std::string> read_url(std::string_view url) {
  const auto wrong = "found " + std::string{url.substr(0, 100)}
                     + "; expected a URL such as http://127.0.0.1:8000";
  constexpr std::string_view scheme = "http://";
  if (!url.starts_with(scheme))
    return failure(wrong);
  url.remove_prefix(scheme.size());
  auto slash = std::min(url.find('/'), url.size());
  auto where = url.substr(0, slash);
  server_address made;
  made.path = url.substr(slash);
  while (made.path.ends_with('/'))
    made.path.pop_back();
  if (made.path.empty())
    made.path = "/v1";
  auto colon = where.ends_with(']') ? where.npos : where.rfind(':');
  made.host = where.substr(0, colon);
  if (made.host.starts_with('[') && made.host.ends_with(']')) // IPv6
    made.host = made.host.substr(1, made.host.size() - 2);
  if (colon != where.npos)
    made.port = where.substr(colon + 1);
  bool is_number = !made.port.empty() && made.port.size() <= 5
                   && made.port.find_first_not_of("0123456789") == std::string::npos;
  bool is_plain
    = url.find_first_of(std::string_view{" \t\r\n?#@\0", 8}) == std::string_view::npos;
  if (made.host.empty() || !is_number || !is_plain)
    return failure(wrong);
  return made;
}

result<served_trace, std::string>
serve_trace(workload::request_source& trace, const client_settings& how,
            const std::function<void(std::size_t, std::size_t)>& told) {
  return crowd{trace, how, told}.run();
}

} // namespace perigee::app
