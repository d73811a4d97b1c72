#include "apps/perigee/metrics.hpp"

#include <catch2/catch.hpp>

#include <regex>
#include <sstream>

namespace perigee::app {
namespace {

/// Of a cluster with two nodes, where something has happened.
struct some_counts {
  some_counts() {
    using std::chrono::milliseconds;
    auto gateway = std::make_shared<gateway::probe>();
    gateway->submitted(100);
    gateway->got_first_token(milliseconds{70}, 100, 32);
    gateway->got_tokens(5);
    gateway->stopped();
    actors.gateways[{"n0", 0}] = gateway;
    for (const auto* node : {"n0", "n1"}) {
      auto decode = std::make_shared<decode::probe>();
      decode::holdings some;
      some.blocks_used = 25;
      some.blocks_free = 75;
      decode->holds(some);
      actors.decodes[{node, 0}] = decode;
    }
    cluster.seated(9, 1, true);
    http.connected();
  }

  std::string text() const {
    return metrics_text({actors, cluster, http, "a \"model\"", 16});
  }

  cluster::probes actors;
  cluster::probe cluster;
  gateway::http_probe http;
};

bool holds_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("dashboards for vLLM find their names") {
  auto text = some_counts{}.text();
  const std::string of = R"({model_name="a \"model\""})";
  CHECK(holds_line(text, "vllm:prompt_tokens_total" + of + " 100"));
  CHECK(holds_line(text, "vllm:generation_tokens_total" + of + " 5"));
  CHECK(holds_line(text, "vllm:prefix_cache_queries_total" + of + " 100"));
  CHECK(holds_line(text, "vllm:prefix_cache_hits_total" + of + " 32"));
  CHECK(holds_line(text, "vllm:kv_cache_usage_perc" + of + " 0.25"));
  for (const auto* name :
       {"vllm:num_requests_running", "vllm:num_requests_waiting",
        "vllm:cache_config_info", "vllm:request_success_total",
        "vllm:time_to_first_token_seconds", "vllm:inter_token_latency_seconds",
        "vllm:time_per_output_token_seconds", "vllm:e2e_request_latency_seconds",
        "vllm:request_queue_time_seconds", "vllm:request_prefill_time_seconds",
        "vllm:request_decode_time_seconds", "vllm:request_inference_time_seconds"}) {
    INFO(name);
    CHECK(text.find(std::string{"# TYPE "} + name + ' ') != std::string::npos);
  }
  CHECK(holds_line(text, R"(vllm:request_success_total{model_name="a \"model\"",)"
                         R"(finished_reason="stop"} 1)"));
}

TEST_CASE("a histogram counts up to its sum") {
  auto text = some_counts{}.text();
  const std::string name = "vllm:time_to_first_token_seconds";
  const std::string of = R"({model_name="a \"model\"")";
  CHECK(holds_line(text, name + "_bucket" + of + R"(,le="0.06"} 0)"));
  CHECK(holds_line(text, name + "_bucket" + of + R"(,le="0.08"} 1)"));
  CHECK(holds_line(text, name + "_bucket" + of + R"(,le="+Inf"} 1)"));
  CHECK(holds_line(text, name + "_count" + of + "} 1"));
  CHECK(text.find("\n" + name + "_sum" + of + "} 0.07") != std::string::npos);
}

TEST_CASE("what each actor counts is told apart by its node") {
  auto text = some_counts{}.text();
  for (const auto* node : {"n0", "n1"})
    CHECK(holds_line(text, std::string{R"(perigee_decode_blocks_used{node=")"} + node
                             + R"(",index="0"} 25)"));
  CHECK(holds_line(text, "perigee_cluster_actors_up 9"));
  CHECK(holds_line(text, "perigee_http_connections_open 1"));
}

TEST_CASE("a name says what it is: only counters end in _total") {
  std::istringstream lines{some_counts{}.text()};
  const std::regex type{"# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)"};
  int types = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# TYPE"))
      continue;
    ++types;
    std::smatch found;
    INFO(line);
    REQUIRE(std::regex_match(line, found, type));
    CHECK(found[1].str().ends_with("_total") == (found[2] == "counter"));
  }
  CHECK(types > 30);
}

} // namespace
} // namespace perigee::app
