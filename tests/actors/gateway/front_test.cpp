#include "actors/gateway/http_front.hpp"
#include "tests/actors/gateway/http_client.hpp"
#include "tests/actors/gateway/toy_model.hpp"

#include <catch2/catch.hpp>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace perigee::gateway {
namespace {

using namespace std::chrono_literals;
using test::get;
using test::http_client;
using test::post;

/// Answers each submission with its own prompt in capitals, one token at a time; but
/// those that begin with "wait" with nothing, and with "half", with one token.
class shouting_cluster : public cluster_door {
public:
  bool submit(const submission& wish) override {
    std::string text;
    for (auto token : wish.tokens)
      text
        += token < 256 ? static_cast<char>(std::toupper(static_cast<int>(token))) : ' ';
    {
      std::lock_guard guard{lock_};
      open_.insert(wish.stream);
      news_.notify_all();
    }
    if (text.starts_with("HALF"))
      server->post([this, stream = wish.stream] { say(stream, 'H'); });
    else if (!text.starts_with("WAIT"))
      server->post([this, stream = wish.stream, text] { shout(stream, text); });
    return true;
  }

  void withdraw(std::uint64_t stream) override {
    std::lock_guard guard{lock_};
    open_.erase(stream);
    news_.notify_all();
  }

  std::chrono::nanoseconds now() const override {
    return std::chrono::nanoseconds{ticks += 1000};
  }

  /// Waits until so many streams are open; false if that never comes.
  bool has_open(std::size_t streams) {
    std::unique_lock guard{lock_};
    return news_.wait_for(guard, 10s, [&] { return open_.size() == streams; });
  }

  http_server* server = nullptr;
  http_front* front = nullptr;

private:
  void say(std::uint64_t stream, char one) {
    std::vector<stream_news> all(1);
    all[0].stream = stream;
    all[0].tokens.push_back({static_cast<unsigned char>(one), 0, {}});
    front->hear(std::move(all));
  }

  void shout(std::uint64_t stream, const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::vector<stream_news> all(1);
      all[0].stream = stream;
      all[0].tokens.push_back({static_cast<unsigned char>(text[i]), 0, {}});
      if (i + 1 == text.size())
        all[0].end = stream_end::stop;
      front->hear(std::move(all));
    }
    withdraw(stream);
  }

  std::mutex lock_;
  std::condition_variable news_;
  std::set<std::uint64_t> open_;
  mutable std::atomic<std::int64_t> ticks{0};
};

struct house {
  explicit house(front_settings how = {}) {
    how.version = "1.2.3";
    how.is_ready = [this] { return ready.load(); };
    how.metrics = [] { return std::string{"up 1\n"}; };
    auto opened = http_server::open([] {
      http_settings any;
      any.port = 0;
      return any;
    }());
    REQUIRE(opened);
    server = std::move(*opened);
    cluster.server = server.get();
    front = std::make_unique<http_front>(std::move(how), test::toy_model(), *server,
                                         cluster);
    cluster.front = front.get();
    server->start(*front);
  }

  ~house() {
    server->stop(0ms);
  }

  test::http_reply ask(const std::string& request) {
    http_client client{server->port()};
    client.put(request);
    auto got = client.reply();
    REQUIRE(got);
    return *got;
  }

  std::atomic<bool> ready{true};
  shouting_cluster cluster;
  std::unique_ptr<http_server> server;
  std::unique_ptr<http_front> front;
};

} // namespace

TEST_CASE("a completion goes all the way, and back") {
  house at;
  auto got
    = at.ask(post("/v1/completions", R"({"prompt":"hello"})", "x-request-id: abc\r\n"));
  CHECK(got.status == 200);
  CHECK(got.body.find(R"("id":"cmpl-abc","object":"text_completion")")
        != std::string::npos);
  CHECK(got.body.find(R"("text":"HELLO")") != std::string::npos);
  CHECK(got.body.find(R"("model":"toy","system_fingerprint":"perigee-1.2.3-00000000")")
        != std::string::npos);
}

TEST_CASE("a chat streams all the way back") {
  house at;
  auto got = at.ask(post(
    "/v1/chat/completions",
    R"({"model":"toy","messages":[{"role":"user","content":"hi"}],"stream":true,"max_tokens":30})"));
  CHECK(got.status == 200);
  CHECK(got.fields["content-type"].starts_with("text/event-stream"));
  CHECK(got.body.find(R"("delta":{"role":"assistant","content":""})")
        != std::string::npos);
  CHECK(got.body.find(R"("delta":{"content":"H"})") != std::string::npos);
  CHECK(got.body.ends_with("data: [DONE]\n\n"));
}

TEST_CASE("what is wrong with a body is said, and the next request is served") {
  house at;
  http_client client{at.server->port()};
  client.put(post("/v1/completions", R"({"prompt":"a","temperature":-1})"));
  auto got = client.reply();
  CHECK(got->status == 400);
  CHECK(got->body.find(R"("param":"temperature")") != std::string::npos);
  client.put(
    post("/v1/completions", R"({"prompt":")" + std::string(1000, 'x') + "\"}"));
  got = client.reply();
  CHECK(got->body.find("context_length_exceeded") != std::string::npos);
  client.put(post("/v1/completions", R"({"prompt":"a"})"));
  CHECK(client.reply()->status == 200);
}

TEST_CASE("the small routes answer by themselves") {
  house at;
  CHECK(at.ask(get("/health")).status == 200);
  CHECK(at.ask(get("/live")).status == 200);
  CHECK(at.ask(get("/version")).body == R"({"version":"1.2.3"})");
  auto metrics = at.ask(get("/metrics"));
  CHECK(metrics.body == "up 1\n");
  CHECK(metrics.fields["content-type"].starts_with("text/plain; version=0.0.4"));
  auto models = at.ask(get("/v1/models"));
  CHECK(models.body
        == R"({"object":"list","data":[{"id":"toy","object":"model","created":0,)"
           R"("owned_by":"perigee","max_model_len":64}]})");
  CHECK(at.ask(get("/v1/models/toy")).status == 200);
  CHECK(at.ask(get("/v1/models/other")).status == 404);
  CHECK(at.ask(post("/tokenize", R"({"prompt":"ab"})")).body
        == R"({"count":2,"max_model_len":64,"tokens":[97,98]})");
  CHECK(at.ask(post("/detokenize", R"({"tokens":[97,257]})")).body
        == R"({"prompt":"a<|im_end|>"})");
  CHECK(at.ask(post("/tokenize", R"({"prompt":7})")).status == 400);
}

TEST_CASE("a cluster that is not ready says so, and is alive") {
  house at;
  at.ready = false;
  CHECK(at.ask(get("/health")).status == 503);
  CHECK(at.ask(get("/ready")).status == 503);
  CHECK(at.ask(get("/live")).status == 200);
  auto got = at.ask(post("/v1/completions", R"({"prompt":"a"})"));
  CHECK(got.status == 503);
  CHECK(got.body.find("not_ready") != std::string::npos);
}

TEST_CASE("a client that goes takes its streams with it") {
  house at;
  {
    http_client client{at.server->port()};
    client.put(post("/v1/completions", R"({"prompt":"wait","n":3})"));
    CHECK(at.cluster.has_open(3));
  }
  CHECK(at.cluster.has_open(0));
}

TEST_CASE("an answer that nobody gives is given up") {
  front_settings how;
  how.give_up_after = 0ms;
  house at{how};
  auto got = at.ask(post("/v1/completions", R"({"prompt":"wait"})"));
  CHECK(got.status == 504);
  CHECK(got.body.find("deadline_exceeded") != std::string::npos);
  CHECK(at.cluster.has_open(0));
}

TEST_CASE("who waits for an answer when the server stops is told that none comes") {
  house at;
  http_client streaming{at.server->port()};
  streaming.put(post("/v1/completions", R"({"prompt":"half","stream":true})"));
  CHECK(streaming.read_until(R"("text":"H")"));
  http_client waiting{at.server->port()};
  waiting.put(post("/v1/completions", R"({"prompt":"wait"})"));
  CHECK(at.cluster.has_open(2));
  http_client arriving{at.server->port()};
  auto most = post("/v1/completions", R"({"prompt":"a"})");
  most.pop_back();
  arriving.put(most);
  CHECK(at.ask(get("/live")).status == 200); // and the others have been read
  std::thread stopping{[&] { at.server->stop(10s); }};
  for (auto* client : {&waiting, &arriving}) {
    auto got = client->reply();
    REQUIRE(got);
    CHECK(got->status == 503);
    CHECK(got->body.find(R"("code":"not_ready")") != std::string::npos);
    CHECK(got->fields["connection"] == "close");
    client->close();
  }
  auto end = streaming.read_until("data: [DONE]\n\n\r\n0\r\n\r\n");
  REQUIRE(end);
  CHECK(end->find(R"(data: {"error":{"message":"the server is stopping")")
        != std::string::npos);
  streaming.close();
  stopping.join();
  CHECK(at.cluster.has_open(0));
}

TEST_CASE("a bench that is full refuses") {
  front_settings how;
  how.bench_waiting_max = 0;
  house at{how};
  auto got = at.ask(post("/v1/completions", R"({"prompt":"a"})"));
  CHECK(got.status == 429);
  CHECK(got.fields["retry-after"] == "1");
  CHECK(got.body.find("queue_full") != std::string::npos);
  CHECK(at.ask(post("/tokenize", R"({"prompt":"a"})")).status == 429);
}

TEST_CASE("short bodies do not wait for long ones, nor long ones for them") {
  const auto small = post("/tokenize", R"({"prompt":"a"})");
  const auto large
    = post("/tokenize", R"({"prompt":")" + std::string(100, 'x') + "\"}");
  front_settings how;
  how.long_body_bytes = 100;
  how.long_waiting_max = 0;
  {
    house at{how};
    CHECK(at.ask(small).status == 200);
    CHECK(at.ask(large).status == 429);
  }
  how.long_waiting_max = 1;
  how.bench_waiting_max = 0;
  house at{how};
  CHECK(at.ask(small).status == 429);
  CHECK(at.ask(large).status == 200);
}

TEST_CASE("many clients are served side by side") {
  house at;
  std::vector<std::unique_ptr<http_client>> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(std::make_unique<http_client>(at.server->port()));
    auto n = std::to_string(i);
    clients.back()->put(post("/v1/completions", R"({"prompt":"client )" + n + "\"}"));
  }
  for (int i = 0; i < 100; ++i) {
    auto got = clients[static_cast<std::size_t>(i)]->reply();
    REQUIRE(got);
    CHECK(got->body.find("CLIENT " + std::to_string(i) + '"') != std::string::npos);
  }
}

} // namespace perigee::gateway
