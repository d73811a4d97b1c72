#include "tests/actors/gateway/served.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using test::get;
using test::http_client;
using test::post;
using test::served;

constexpr auto chats = "/v1/chat/completions";
constexpr auto completions = "/v1/completions";

std::string head_with_coding(const std::string& path, const std::string& version,
                             const std::string& coding) {
  return "POST " + path + " HTTP/" + version + "\r\nHost: x\r\n"
         + "Connection: keep-alive\r\nContent-Type: application/json\r\n"
         + "Transfer-Encoding: " + coding + "\r\n\r\n";
}

http_settings hasty() {
  http_settings how;
  how.header_limit = how.body_limit = how.idle_limit = how.write_limit
    = how.linger_limit = 1ms; // looked at every 100
  return how;
}

} // namespace

TEST_CASE("what is no HTTP is refused, and the connection closed") {
  served on;
  const std::string smuggled = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
                               "Content-Type: application/json\r\n";
  for (const auto& request : std::vector<std::string>{
         "\r\n\r\n\r\n",
         "hello\r\n\r\n",
         "GET\r\n\r\n",
         "GET / HTTP/3.0\r\n\r\n",
         "GET /health HTTP/1.1\r\n\r\n", // no Host
         "GET /health HTTP/1.1\r\nHost x\r\n\r\n",
         "GET /health HTTP/1.1\r\nHost: x\r\nA B: c\r\n\r\n",
         "GET /health\x01 HTTP/1.1\r\nHost: x\r\n\r\n",
         "GET /health HTTP/1.1\r\nHost: \0\r\n\r\n"s,
         "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"s, // TLS
         smuggled + "Content-Length: -1\r\n\r\n",
         smuggled + "Content-Length: 1e3\r\n\r\n",
         smuggled + "Content-Length: 99999999999999999999999\r\n\r\n",
         smuggled + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
         smuggled + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
         smuggled + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
         smuggled + "Transfer-Encoding:\r\n\r\n",
         smuggled + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
         smuggled + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
       }) {
    INFO(request);
    http_client client{on.server->port()};
    client.put(request);
    auto got = client.reply();
    REQUIRE(got);
    CHECK(got->status == 400);
    CHECK(got->body.find(R"("code":"bad_http")") != std::string::npos);
    CHECK(client.is_closed());
  }
  CHECK(on.is_well());
}

TEST_CASE("a body whose end is not certain is never read as a request") {
  served on;
  auto hidden = get("/health");
  for (std::string path : {chats, "/health", "/nowhere"})
    for (std::string coding : {"xchunked", "gzip", "identity", "gzip, chunked",
                               "chunked, gzip", "chunked\r\nTransfer-Encoding: gzip",
                               "gzip\r\nTransfer-Encoding: chunked", "\"chunked\""})
      for (std::string version : {"1.1", "1.0"}) {
        INFO(path << ' ' << coding << ' ' << version);
        http_client client{on.server->port()};
        client.put(head_with_coding(path, version, coding) + hidden);
        auto got = client.reply();
        REQUIRE(got);
        CHECK(got->status == 400);
        CHECK(got->body.find(R"("code":"bad_http")") != std::string::npos);
        CHECK_FALSE(client.reply());
      }
  http_client old{on.server->port()};
  old.put("POST /v1/chat/completions HTTP/1.0\r\nContent-Type: application/json\r\n"
          "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n");
  CHECK(old.reply()->status == 400);
  CHECK(old.is_closed());
  http_client loud{on.server->port()};
  loud.put("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
           "Content-Type: application/json\r\n"
           "Transfer-Encoding: Chunked \r\n\r\n2\r\n{}\r\n0\r\n\r\n");
  CHECK(loud.reply()->status == 200);
}

TEST_CASE("headers beyond the limit are refused") {
  served on{{.header_bytes_max = 1000}};
  for (const auto& request :
       {get("/health", "x: " + std::string(2000, 'x') + "\r\n"),
        "GET /" + std::string(2000, 'x'), std::string(2000, 'x')}) {
    http_client client{on.server->port()};
    client.put(request);
    auto got = client.reply();
    REQUIRE(got);
    CHECK(got->status == 431);
    CHECK(client.is_closed());
  }
  CHECK(on.is_well());
}

TEST_CASE("bodies beyond the limit are refused, announced or not") {
  served on{{.body_bytes_max = 1000}};
  http_client announced{on.server->port()};
  announced.put(post(chats, std::string(1001, 'x')));
  auto got = announced.reply();
  REQUIRE(got);
  CHECK(got->status == 413);
  CHECK(got->body.find(R"("code":"body_too_large")") != std::string::npos);
  CHECK(announced.is_closed());

  http_client chunked{on.server->port()};
  chunked.put("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
              "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 20; ++i)
    chunked.put("40\r\n" + std::string(64, 'x') + "\r\n");
  got = chunked.reply();
  REQUIRE(got);
  CHECK(got->status == 413);
  CHECK(on.is_well());
}

TEST_CASE("bodies that arrive share a limit") {
  served on{{.body_bytes_max = 600, .bodies_bytes_max = 1000}};
  auto request = post(chats, std::string(600, 'x'));
  http_client first{on.server->port()};
  first.put(request.substr(0, request.size() - 1));
  CHECK(on.is_well()); // and the first has been read up to here
  http_client second{on.server->port()};
  second.put(request);
  CHECK(second.reply()->status == 429);
  first.put("x");
  CHECK(first.reply()->status == 200);
  http_client third{on.server->port()};
  third.put(request);
  CHECK(third.reply()->status == 200);
}

TEST_CASE("a body that is not JSON by its type is not read") {
  served on;
  for (auto type :
       {"text/plain", "application/x-www-form-urlencoded", "application/jsonx"}) {
    http_client client{on.server->port()};
    client.put("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: "
               + std::string{type} + "\r\nContent-Length: 2\r\n\r\n{}");
    CHECK(client.reply()->status == 415);
  }
  auto status_of = [&](const std::string& type) {
    http_client client{on.server->port()};
    client.put("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: " + type
               + "\r\nContent-Length: 2\r\n\r\n{}");
    return client.reply()->status;
  };
  CHECK(status_of("application/json; charset=latin-1") == 415);
  CHECK(status_of("application/json; x=y; Charset = \"utf-16\"") == 415);
  CHECK(status_of("Application/JSON ;charset=\"UTF-8\"; x") == 200);
  http_client zipped{on.server->port()};
  zipped.put(post(chats, "{}", "Content-Encoding: gzip\r\n"));
  CHECK(zipped.reply()->status == 415);
}

TEST_CASE("who takes too long over headers or body is told so") {
  served on{hasty()};
  http_client headers{on.server->port()};
  headers.put("GET /health HT");
  CHECK(headers.reply()->status == 408);
  CHECK(headers.is_closed());
  http_client body{on.server->port()};
  auto request = post(chats, "{}");
  body.put(request.substr(0, request.size() - 1));
  CHECK(body.reply()->status == 408);
  CHECK(body.is_closed());
}

TEST_CASE("who says nothing is disconnected, before the first request and after") {
  served on{hasty()};
  http_client silent{on.server->port()};
  CHECK(silent.is_closed());
  http_client idle{on.server->port()};
  idle.put(get("/health"));
  CHECK(idle.reply()->status == 200);
  CHECK(idle.is_closed());
}

TEST_CASE("a call takes as long as it takes") {
  served on{hasty()};
  http_client client{on.server->port()};
  client.put(post(completions, "{}"));
  auto call = on.desk.waiting(0);
  http_client silent{on.server->port()};
  CHECK(silent.is_closed()); // so limits have been looked at meanwhile
  on.with_line(call, [](http_line& line) { line.answer({200, "late"}); });
  CHECK(client.reply()->body == "late");
}

TEST_CASE("a client that goes is noticed while nothing is written") {
  served on;
  for (std::size_t i = 0; i < 4; ++i) {
    http_client client{on.server->port()};
    client.put(post(completions, "{}"));
    auto call = on.desk.waiting(i);
    if (i % 2 == 1)
      on.with_line(call, [](http_line& line) { line.begin_events(); });
    if (i < 2)
      client.close();
    else
      client.shut_writing(); // half is as good as whole
    CHECK(on.desk.is_abandoned(call));
    on.with_line(call, [&](http_line& line) {
      CHECK_FALSE(line.write("data: x\n\n"));
      line.end_events(); // nobody is there: nothing happens
    });
  }
  CHECK(on.is_well());
}

TEST_CASE("a stream that its client does not read ends at the limit") {
  served on{{.unsent_bytes_max = 100'000}};
  http_client client{on.server->port()};
  client.shrink_receive_buffer();
  client.put(post(completions, "{}"));
  auto call = on.desk.waiting(0);
  on.with_line(call, [](http_line& line) { line.begin_events(); });
  const std::string event(10'000, 'x');
  bool goes_on = true;
  for (int i = 0; i < 10'000 && goes_on; ++i) // the kernel's buffers take some
    on.with_line(call, [&](http_line& line) { goes_on = line.write(event); });
  CHECK_FALSE(goes_on);
  CHECK(on.desk.is_abandoned(call));
  CHECK(on.server->probe().slow_readers_total() == 1);
  CHECK(on.is_well());
}

TEST_CASE("who takes nothing of an answer for too long is disconnected") {
  auto how = hasty();
  how.unsent_bytes_max = std::size_t{1} << 30;
  served on{how};
  http_client client{on.server->port()};
  client.shrink_receive_buffer();
  client.put(post(completions, "{}"));
  auto call = on.desk.waiting(0);
  on.with_line(call, [](http_line& line) {
    line.begin_events();
    line.write(std::string(std::size_t{32} << 20, 'x'));
  });
  CHECK(on.desk.is_abandoned(call));
  CHECK(on.server->probe().timeouts_total() == 1);
}

TEST_CASE("what is sent ahead is limited") {
  served on{{.pipelined_bytes_max = 10'000}};
  http_client client{on.server->port()};
  client.put(post(completions, "{}"));
  auto call = on.desk.waiting(0);
  client.put(std::string(100'000, 'x'));
  CHECK(on.desk.is_abandoned(call));
  CHECK(on.is_well());
}

TEST_CASE(
  "connections beyond the limit are told so, and the others are not disturbed") {
  served on{{.connections_max = 2}};
  http_client one{on.server->port()};
  one.put(post(completions, "{}"));
  auto call = on.desk.waiting(0);
  http_client two{on.server->port()};
  two.put(get("/health"));
  CHECK(two.reply()->status == 200);
  {
    http_client three{on.server->port()};
    three.put(get("/health"));
    auto got = three.reply();
    REQUIRE(got);
    CHECK(got->status == 503);
    CHECK(got->body.find(R"("code":"too_many_connections")") != std::string::npos);
    CHECK(three.is_closed());
  }
  on.with_line(call, [](http_line& line) { line.answer({200, "one"}); });
  CHECK(one.reply()->body == "one");
}

} // namespace perigee::gateway
