#include "tests/actors/gateway/served.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {
namespace {

using namespace std::chrono_literals;
using test::get;
using test::http_client;
using test::post;
using test::served;

constexpr auto chats = "/v1/chat/completions";
constexpr auto completions = "/v1/completions";

} // namespace

TEST_CASE("a call reaches the desk whole, and its answer the client") {
  served on;
  http_client client{on.server->port()};
  for (auto body : {R"({"a":1})", "{}"}) { // one connection, kept alive
    REQUIRE(client.put(post(chats, body, "x-request-id: mine\r\n")));
    auto got = client.reply();
    REQUIRE(got);
    CHECK(got->status == 200);
    CHECK(got->body == body);
    CHECK(got->fields["x-request-id"] == "mine");
    CHECK(got->fields["connection"] == "keep-alive");
    CHECK(on.desk.last().to == route::chat);
  }
}

TEST_CASE("a request may come in pieces of any size") {
  served on;
  auto request = post(chats, R"({"text":"some words"})");
  for (std::size_t size : {1, 2, 7, 100}) {
    http_client client{on.server->port()};
    for (std::size_t at = 0; at < request.size(); at += size)
      client.put(std::string_view{request}.substr(at, size));
    auto got = client.reply();
    REQUIRE(got);
    CHECK(got->body == R"({"text":"some words"})");
  }
}

TEST_CASE("a body may come in chunks") {
  served on;
  http_client client{on.server->port()};
  client.put(
    "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
    "Content-Type: application/json; charset=utf-8\r\n"
    "Transfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n4;x=y\r\n\":1}\r\n0\r\n\r\n");
  auto got = client.reply();
  REQUIRE(got);
  CHECK(got->body == R"({"a":1})");
}

TEST_CASE("requests sent ahead are answered in order") {
  served on;
  http_client client{on.server->port()};
  client.put(post(completions, "first") + post(chats, "second") + get("/health"));
  auto call = on.desk.waiting(0);
  on.with_line(call, [](http_line& line) { line.answer({200, "one"}); });
  CHECK(client.reply()->body == "one");
  CHECK(client.reply()->body == "second");
  CHECK(client.reply()->status == 200);
}

TEST_CASE("a client that expects to be told to continue is told") {
  served on;
  http_client client{on.server->port()};
  auto request = post(chats, "{}", "Expect: 100-continue\r\n");
  client.put(request.substr(0, request.size() - 2));
  CHECK(client.reply()->status == 100);
  client.put("{}");
  CHECK(client.reply()->status == 200);
}

TEST_CASE("a client that expects anything else is refused") {
  served on;
  http_client client{on.server->port()};
  client.put(get("/health", "Expect: foo\r\n"));
  auto got = client.reply();
  CHECK(got->status == 417);
  CHECK(got->body.find(R"("code":"expectation_failed")") != std::string::npos);
  client.put(get("/health", "Expect: 100-Continue\r\n"));
  CHECK(client.reply()->status == 200);
}

TEST_CASE("a target may name scheme and host") {
  served on;
  http_client client{on.server->port()};
  for (auto target : {"http://host/health", "HTTP://host:80/health?x=http://y",
                      "https://[::1]/v1/models/toy"}) {
    client.put(get(target));
    CHECK(client.reply()->status == 200);
  }
  for (auto target : {"http://host", "http://host?/health", "httpx://host/health"}) {
    client.put(get(target));
    CHECK(client.reply()->status == 404);
  }
}

TEST_CASE("one empty line may stand before a request") {
  served on;
  http_client client{on.server->port()};
  client.put("\r\n" + get("/health") + "\r\n" + get("/health"));
  CHECK(client.reply()->status == 200);
  CHECK(client.reply()->status == 200);
  client.put("\r");
  CHECK(on.is_well()); // and the one byte has been read
  client.put("\n" + get("/health"));
  CHECK(client.reply()->status == 200);
  client.put("\r\n\r\n" + get("/health"));
  CHECK(client.reply()->status == 400);
}

TEST_CASE("paths and methods that are not there say so") {
  served on;
  http_client client{on.server->port()};
  client.put(get("/nowhere"));
  auto got = client.reply();
  CHECK(got->status == 404);
  CHECK(got->body.find(R"("code":"not_found")") != std::string::npos);
  client.put(get(chats));
  got = client.reply();
  CHECK(got->status == 405);
  CHECK(got->fields["allow"] == "POST, OPTIONS");
  client.put("DELETE /health HTTP/1.1\r\nHost: x\r\n\r\n");
  got = client.reply();
  CHECK(got->status == 405);
  CHECK(got->fields["allow"] == "GET, HEAD, OPTIONS");
  client.put("HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n");
  got = client.reply(false);
  CHECK(got->status == 200);
  client.put(get("/v1/models/a%2Fb?x=y"));
  CHECK(client.reply()->status == 200);
  CHECK(on.desk.last().model == "a/b");
}

TEST_CASE("web pages may call if their origin is allowed") {
  served on{{.origins = {"https://page.example"}}};
  http_client client{on.server->port()};
  client.put("OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
             "Origin: https://page.example\r\n"
             "Access-Control-Request-Headers: authorization, x-stainless-os\r\n\r\n");
  auto got = client.reply();
  CHECK(got->status == 204);
  CHECK(got->fields["access-control-allow-origin"] == "https://page.example");
  CHECK(got->fields["access-control-allow-headers"] == "authorization, x-stainless-os");
  CHECK(got->fields["access-control-allow-methods"] == "POST, OPTIONS");
  client.put(get("/health", "Origin: https://other.example\r\n"));
  CHECK_FALSE(client.reply()->fields.contains("access-control-allow-origin"));
  client.put(get("/nowhere", "Origin: https://page.example\r\n")); // errors, too
  CHECK(client.reply()->fields.contains("access-control-allow-origin"));
}

TEST_CASE("with API keys, the API is for those who have one") {
  served on{{.api_keys = {"one", "two"}}};
  http_client client{on.server->port()};
  auto status = [&](const std::string& more, const char* path = "/v1/models") {
    client.put(get(path, more));
    return client.reply()->status;
  };
  CHECK(status("Authorization: Bearer two\r\n") == 200);
  CHECK(status("Authorization: Bearer one\r\n") == 200);
  CHECK(status("") == 401);
  CHECK(status("Authorization: Bearer\r\n") == 401);
  CHECK(status("Authorization: Bearer on\r\n") == 401);
  CHECK(status("Authorization: Bearer onee\r\n") == 401);
  CHECK(status("Authorization: Basic one\r\n") == 401);
  CHECK(status("", "/health") == 200);
}

TEST_CASE("objectives and traces come in headers") {
  served on;
  http_client client{on.server->port()};
  client.put(
    get("/v1/models",
        "x-slo-ttft-ms: 250\r\nX-SLO-TPOT-MS: 12.5\r\n"
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n"));
  CHECK(client.reply()->status == 200);
  auto call = on.desk.last();
  CHECK(call.ttft_limit == 250ms);
  CHECK(call.tpot_limit == 12'500us);
  CHECK(call.trace == trace_id{0x0af7651916cd43dd, 0x8448eb211c80319c});
  for (auto bad :
       {"x-slo-ttft-ms: -1\r\n", "x-slo-ttft-ms: nan\r\n", "x-slo-ttft-ms: 0\r\n",
        "x-slo-tpot-ms: 1e300\r\n", "x-slo-tpot-ms: 5ms\r\n"}) {
    client.put(get("/v1/models", bad));
    auto got = client.reply();
    CHECK(got->status == 400);
    CHECK(got->body.find("invalid_header") != std::string::npos);
  }
}

TEST_CASE("a request id is the client's, or one of the server's own") {
  served on;
  http_client client{on.server->port()};
  client.put(get("/v1/models") + get("/v1/models"));
  auto first = client.reply()->fields["x-request-id"];
  CHECK(first.size() == 16);
  CHECK(client.reply()->fields["x-request-id"] != first);
  client.put(get("/v1/models", "x-request-id: " + std::string(129, 'x') + "\r\n"));
  auto refused = client.reply();
  CHECK(refused->status == 400);
  CHECK(refused->fields["x-request-id"].size() == 16);
}

TEST_CASE("a refusal has the request's id, too") {
  http_settings how;
  how.body_bytes_max = 100;
  how.bodies_bytes_max = 90;
  how.connections_max = 1;
  how.api_keys = {"key"};
  how.body_limit = 1ms;
  served on{how};
  const std::string mine = "x-request-id: mine\r\n";
  const std::string key = "Authorization: Bearer key\r\n";
  const auto half = post(chats, "{}", mine + key);
  struct wish {
    int status;
    std::string request;
  };
  for (const auto& [status, request] : std::vector<wish>{
         {404, get("/nowhere", mine)},
         {405, get(chats, mine)},
         {401, get("/v1/models", mine)},
         {400, get("/v1/models", mine + key + "x-slo-ttft-ms: x\r\n")},
         {413, post(chats, std::string(101, 'x'), mine + key)},
         {429, post(chats, std::string(95, 'x'), mine + key)},
         {415, post(chats, "{}", mine + key + "Content-Encoding: gzip\r\n")},
         {417, get("/health", mine + "Expect: x\r\n")},
         {408, half.substr(0, half.size() - 1)},
       }) {
    http_client client{on.server->port()};
    client.put(request);
    auto got = client.reply();
    REQUIRE(got);
    CHECK(got->status == status);
    CHECK(got->fields["x-request-id"] == "mine");
    client.close();
    while (on.server->probe().connections_open() > 0)
      std::this_thread::yield();
  }
  http_client none{on.server->port()};
  none.put("no HTTP\r\n\r\n");
  CHECK(none.reply()->fields["x-request-id"].size() == 16);
}

TEST_CASE("who is turned away has an id to ask with") {
  http_settings how;
  how.connections_max = 0;
  served on{how};
  http_client client{on.server->port()};
  auto got = client.reply();
  REQUIRE(got);
  CHECK(got->status == 503);
  CHECK(got->fields["x-request-id"].size() == 16);
}

TEST_CASE("events stream as they come, and the connection lives on") {
  served on;
  http_client client{on.server->port()};
  client.put(post(completions, "{}"));
  auto call = on.desk.waiting(0);
  on.with_line(call, [](http_line& line) {
    line.begin_events();
    CHECK(line.write("data: 1\n\n"));
  });
  CHECK(client.read_until("data: 1\n\n")); // before there is more
  on.with_line(call, [](http_line& line) {
    CHECK(line.write("data: 2\n\n"));
    line.end_events();
    CHECK_FALSE(line.write("data: 3\n\n"));
  });
  CHECK(client.read_until("data: 2\n\n\r\n0\r\n\r\n"));
  client.put(get("/health"));
  CHECK(client.reply()->status == 200);
}

TEST_CASE("a client of HTTP/1.0 gets its events without chunks") {
  served on;
  http_client client{on.server->port()};
  client.put("POST /v1/completions HTTP/1.0\r\nContent-Type: application/json\r\n"
             "Content-Length: 2\r\n\r\n{}");
  on.with_line(on.desk.waiting(0), [](http_line& line) {
    line.begin_events();
    line.write("data: 1\n\n");
    line.end_events();
  });
  auto got = client.read_until("data: 1\n\n");
  REQUIRE(got);
  CHECK(got->find("chunked") == std::string::npos);
  CHECK(got->find("\r\n\r\ndata: 1") != std::string::npos);
  CHECK(client.is_closed());
}

TEST_CASE("a refusal says when to come again, and why") {
  served on;
  http_client client{on.server->port()};
  client.put(post(completions, "{}"));
  on.with_line(on.desk.waiting(0), [](http_line& line) {
    line.answer(to_answer({api_code::rejected_prefill, "busy", "", 7}));
  });
  auto got = client.reply();
  CHECK(got->status == 429);
  CHECK(got->fields["retry-after"] == "7");
  CHECK(got->fields["x-request-dropped-reason"] == "rejected_prefill");
}

TEST_CASE("many streams are open at once") {
  served on;
  constexpr std::size_t many = 2000;
  std::vector<std::unique_ptr<http_client>> clients;
  for (std::size_t i = 0; i < many; ++i) {
    clients.push_back(std::make_unique<http_client>(on.server->port()));
    clients.back()->put(post(completions, std::to_string(i)));
  }
  auto last = on.desk.waiting(many - 1);
  auto with_each = [&](auto act) {
    on.with_line(last, [&](http_line&) {
      for (std::size_t i = 0; i < many; ++i)
        act(*on.desk.line(on.desk.waiting(i)));
    });
  };
  with_each([](http_line& line) { line.begin_events(); });
  for (int round = 0; round < 3; ++round)
    with_each([](http_line& line) { line.write("data: x\n\n"); });
  with_each([](http_line& line) { line.end_events(); });
  for (auto& client : clients) {
    auto got = client->reply();
    REQUIRE(got);
    CHECK(got->body == "data: x\n\ndata: x\n\ndata: x\n\n");
  }
  CHECK(on.server->probe().connections_open() == many);
}

TEST_CASE("a server stops when its calls have ended") {
  auto on = std::make_unique<served>();
  http_client idle{on->server->port()};
  idle.put(get("/health"));
  CHECK(idle.reply());
  http_client busy{on->server->port()};
  busy.put(post(completions, "{}"));
  auto call = on->desk.waiting(0);
  std::thread stopping{[&] { on->server->stop(10s); }};
  CHECK(idle.is_closed());
  on->with_line(call, [](http_line& line) { line.answer({200, "done"}); });
  auto got = busy.reply();
  REQUIRE(got);
  CHECK(got->body == "done");
  CHECK(got->fields["connection"] == "close");
  busy.close();
  stopping.join();
  CHECK(on->desk.abandoned() == 0);
  CHECK_THROWS(http_client{on->server->port()});
}

TEST_CASE("a server that may wait no longer abandons its calls") {
  served on;
  http_client client{on.server->port()};
  client.put(post(completions, "{}"));
  auto call = on.desk.waiting(0);
  on.server->stop(0ms);
  CHECK(on.desk.is_abandoned(call));
  CHECK(client.is_closed());
}

TEST_CASE("a place where nobody can listen is named") {
  served on;
  auto taken = http_server::open({.port = on.server->port()});
  REQUIRE_FALSE(taken);
  CHECK(taken.error().find("127.0.0.1 port " + std::to_string(on.server->port()))
        != std::string::npos);
  auto wrong = http_server::open({.address = "nowhere"});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().find("nowhere") != std::string::npos);
}

} // namespace perigee::gateway
