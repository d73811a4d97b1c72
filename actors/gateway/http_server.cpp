#include "actors/gateway/http_server.hpp"

#include "actors/gateway/http_session.hpp"
#include "schemas/assert.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <future>
#include <thread>

namespace perigee::gateway {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using std::chrono::milliseconds;

constexpr milliseconds sweep_every{100};
constexpr milliseconds accept_pause{100}; // when the process has no descriptor left

/// Lets the process have as many more open files as there may be connections, as far as
/// its hard limit allows. Without that, usual limits end at a thousand.
void make_room_for(std::size_t connections) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
    return;
  constexpr rlim_t others = 1024;
  auto wanted = static_cast<rlim_t>(connections) + others;
  if (files.rlim_cur >= wanted)
    return;
  files.rlim_cur = std::min(wanted, files.rlim_max);
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &files)); // fewer are accepted, then
}

/// Clients beyond the limit that are told so at a time; more are just cut off.
constexpr std::size_t turned_away_max = 64;

} // namespace

class http_server::body {
public:
  explicit body(http_settings settings)
    : how_(std::move(settings)), floor_{.how = how_, .counts = counts_, .scratch = {}} {
  }

  ~body() {
    stop(milliseconds{0});
  }

  result<void, std::string> listen() {
    make_room_for(how_.connections_max);
    error_code error;
    auto address = asio::ip::make_address(how_.address, error);
    tcp::endpoint where{address, how_.port};
    auto step = [&](auto act) {
      if (!error)
        act();
    };
    step([&] { acceptor_.open(where.protocol(), error); });
    step([&] { acceptor_.set_option(tcp::acceptor::reuse_address{true}, error); });
    step([&] { acceptor_.bind(where, error); });
    step([&] { acceptor_.listen(tcp::acceptor::max_listen_connections, error); });
    if (error)
      return failure("cannot listen at " + how_.address + " port "
                     + std::to_string(how_.port) + ": " + error.message());
    port_ = acceptor_.local_endpoint().port();
    return {};
  }

  std::uint16_t port() const {
    return port_;
  }

  const http_probe& counts() const {
    return counts_;
  }

  void start(front_desk& desk) {
    PERIGEE_ASSERT(!thread_.joinable(), "a server starts once");
    floor_.desk = &desk;
    post([this] {
      accept();
      sweep_later();
    });
    thread_ = std::thread{[this] { loop_.run(); }};
  }

  void post(std::function<void()> job) {
    asio::post(loop_, std::move(job));
  }

  void stop(milliseconds limit) {
    if (!thread_.joinable())
      return;
    post([this] { begin_to_stop(); });
    if (ended_.get_future().wait_for(limit) != std::future_status::ready)
      post([this] { close_all(); });
    thread_.join();
  }

private:
  using session_ptr = std::shared_ptr<http_session>;

  void accept() {
    acceptor_.async_accept([this](const error_code& error, tcp::socket connection) {
      if (floor_.closing)
        return;
      if (error)
        return accept_later();
      take_in(std::move(connection));
      accept();
    });
  }

  void accept_later() {
    pause_.expires_after(accept_pause);
    pause_.async_wait([this](const error_code& error) {
      if (!error && !floor_.closing)
        accept();
    });
  }

  void take_in(tcp::socket connection) {
    auto open = floor_.sessions.size();
    if (open >= how_.connections_max + turned_away_max)
      return counts_.turned_away(); // and is closed
    auto session = std::make_shared<http_session>(floor_, std::move(connection));
    floor_.sessions.emplace(session.get(), session);
    counts_.connected();
    if (open < how_.connections_max)
      return session->start();
    counts_.turned_away();
    session->turn_away();
  }

  /// Calls `act` for each session; it may end any of them.
  template <class Act>
  void for_each(Act act) {
    std::vector<session_ptr> all;
    all.reserve(floor_.sessions.size());
    for (const auto& [_, session] : floor_.sessions)
      all.push_back(session);
    for (const auto& session : all)
      act(*session);
  }

  void sweep_later() {
    tick_.expires_after(sweep_every);
    tick_.async_wait([this](const error_code& error) {
      if (error)
        return;
      auto now = http_session::clock::now();
      for_each([now](http_session& session) { session.sweep(now); });
      floor_.desk->tick();
      if (!is_over_)
        sweep_later();
    });
  }

  void begin_to_stop() {
    if (std::exchange(floor_.closing, true))
      return;
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    floor_.on_empty = [this] { end(); };
    for_each([](http_session& session) { session.close_when_idle(); });
    floor_.desk->close();
    if (floor_.sessions.empty())
      end();
  }

  void close_all() {
    for_each([](http_session& session) { session.close(); });
  }

  /// What was posted up to now still runs; then the loop has nothing left to do.
  void end() {
    if (std::exchange(is_over_, true))
      return;
    tick_.cancel();
    work_.reset();
    ended_.set_value();
  }

  http_settings how_;
  http_probe counts_;
  http_floor floor_;
  asio::io_context loop_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{
    loop_.get_executor()};
  tcp::acceptor acceptor_{loop_};
  asio::steady_timer tick_{loop_};
  asio::steady_timer pause_{loop_};
  std::uint16_t port_ = 0;
  bool is_over_ = false;
  std::promise<void> ended_;
  std::thread thread_;
};

result<std::unique_ptr<http_server>, std::string> http_server::open(http_settings how) {
  auto all = std::make_unique<body>(std::move(how));
  if (auto listens = all->listen(); !listens)
    return failure(listens.error());
  return std::unique_ptr<http_server>{new http_server{std::move(all)}};
}

http_server::http_server(std::unique_ptr<body> all) : body_(std::move(all)) {}

http_server::~http_server() = default;

std::uint16_t http_server::port() const {
  return body_->port();
}

void http_server::start(front_desk& desk) {
  body_->start(desk);
}

void http_server::post(std::function<void()> job) {
  body_->post(std::move(job));
}

void http_server::stop(std::chrono::milliseconds limit) {
  body_->stop(limit);
}

const http_probe& http_server::probe() const {
  return body_->counts();
}

} // namespace perigee::gateway
