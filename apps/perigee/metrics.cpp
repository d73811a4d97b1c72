#include "apps/perigee/metrics.hpp"

#include <prometheus/text_serializer.h>

#include <limits>
#include <map>
#include <sstream>

namespace perigee::app {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;
using labels = std::vector<ClientMetric::Label>;

/// Collects metrics into families: one for each name.
class collection {
public:
  void add(const std::string& name, const std::string& help, MetricType type, labels of,
           double value) {
    auto& metric = place(name, help, type, std::move(of));
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  }

  /// A counter if its name says that it only grows, else a gauge.
  void add(const std::string& name, const std::string& help, labels of, double value) {
    auto type = name.ends_with("_total") ? MetricType::Counter : MetricType::Gauge;
    add(name, help, type, std::move(of), value);
  }

  void add(const std::string& name, const std::string& help, labels of,
           const gateway::histogram& seen) {
    auto& into = place(name, help, MetricType::Histogram, std::move(of)).histogram;
    std::uint64_t below = 0;
    for (std::size_t i = 0; i <= seen.bounds_s().size(); ++i) {
      below += seen.count(i);
      bool is_last = i == seen.bounds_s().size();
      auto bound
        = is_last ? std::numeric_limits<double>::infinity() : seen.bounds_s()[i];
      into.bucket.push_back({below, bound});
    }
    into.sample_count = below;
    into.sample_sum = seen.sum_s();
  }

  std::string text() const {
    std::vector<prometheus::MetricFamily> all;
    for (const auto& [name, family] : families_)
      all.push_back(family);
    std::ostringstream out;
    prometheus::TextSerializer{}.Serialize(out, all);
    return out.str();
  }

private:
  ClientMetric& place(const std::string& name, const std::string& help, MetricType type,
                      labels of) {
    auto& family = families_[name];
    family.name = name;
    family.help = help;
    family.type = type;
    auto& metric = family.metric.emplace_back();
    metric.label = std::move(of);
    return metric;
  }

  std::map<std::string, prometheus::MetricFamily> families_;
};

template <class Probe>
void add_probes(collection& to, const std::string& role,
                const cluster::probes::each<Probe>& all) {
  for (const auto& [where, probe] : all) {
    const labels of{{"node", where.first}, {"index", std::to_string(where.second)}};
    probe->each([&](const char* name, const char* help, auto value) {
      to.add("perigee_" + role + '_' + name, help, of, static_cast<double>(value));
    });
  }
}

void add_lines(collection& to, const cluster::probes::each<transfer::probe>& all) {
  for (const auto& [where, probe] : all) {
    for (const auto& [node, line] : probe->census().lines())
      to.add("perigee_transfer_line", "What KV goes by to another node, and why",
             {{"node", where.first},
              {"peer", node},
              {"transport", line.transport},
              {"why", line.why}},
             1);
    for (const auto& [transport, bytes] : probe->census().bytes_moved())
      to.add("perigee_transfer_bytes_by_transport_total",
             "Bytes moved to and from other processes",
             {{"node", where.first}, {"transport", transport}},
             static_cast<double>(bytes));
  }
}

void add_http(collection& to, const gateway::http_probe& http) {
  auto add = [&](const char* name, const char* help, std::uint64_t value) {
    to.add(std::string{"perigee_http_"} + name, help, {}, static_cast<double>(value));
  };
  add("connections_total", "Connections accepted", http.connections_total());
  add("connections_refused_total", "Connections closed: there were too many",
      http.connections_refused_total());
  add("connections_open", "Connections open now", http.connections_open());
  add("calls_total", "Requests that were read", http.calls_total());
  add("calls_abandoned_total", "Requests whose client went before the answer was whole",
      http.calls_abandoned_total());
  add("timeouts_total", "Connections closed: a limit of time was reached",
      http.timeouts_total());
  add("malformed_total", "Requests that were no HTTP", http.malformed_total());
  add("slow_readers_total", "Clients disconnected: they read too slowly",
      http.slow_readers_total());
  add("sent_bytes_total", "Bytes sent", http.sent_bytes_total());
  add("answers_ok_total", "Answers with a status below 400", http.answers_ok_total());
  add("answers_client_error_total", "Answers with a status from 400 to 499",
      http.answers_client_error_total());
  add("answers_server_error_total", "Answers with a status of 500 and above",
      http.answers_server_error_total());
}

/// The sum over all instances of what they call `wanted`.
template <class Probe>
double sum(const cluster::probes::each<Probe>& all, std::string_view wanted) {
  double total = 0;
  for (const auto& [where, probe] : all)
    probe->each([&](std::string_view name, const char*, auto value) {
      if (name == wanted)
        total += static_cast<double>(value);
    });
  return total;
}

void add_success(collection& to, const labels& of, const gateway::probe& one) {
  auto add = [&](const char* reason, std::uint64_t value) {
    auto with = of;
    with.push_back({"finished_reason", reason});
    to.add("vllm:request_success_total", "Requests that were answered", std::move(with),
           static_cast<double>(value));
  };
  add("stop", one.stopped_total());
  add("length", one.length_total());
}

void add_gateway_as_vllm(collection& to, const labels& of, const gateway::probe& one) {
  auto add = [&](const char* name, const char* help, std::uint64_t value) {
    to.add(std::string{"vllm:"} + name, help, of, static_cast<double>(value));
  };
  add("num_requests_running", "Requests that have a token", one.running());
  add("num_requests_waiting", "Requests that have none yet", one.waiting());
  add("prompt_tokens_total", "Tokens of prompts", one.prompt_tokens_total());
  add("generation_tokens_total", "Tokens of answers", one.answer_tokens_total());
  add("prefix_cache_queries_total", "Prompt tokens looked up in the pool",
      one.prefix_queries_total());
  add("prefix_cache_hits_total", "Prompt tokens found there", one.prefix_hits_total());
  add_success(to, of, one);
  one.each_histogram([&](const char* name, const char* help, const auto& seen) {
    to.add(std::string{"vllm:"} + name, help, of, seen);
  });
}

void add_as_vllm(collection& to, const metric_sources& from) {
  const labels of{{"model_name", from.model}};
  for (const auto& [where, probe] : from.actors.gateways)
    add_gateway_as_vllm(to, of, *probe); // one has all of them: the model's
  const auto& actors = from.actors;
  auto used = sum(actors.decodes, "blocks_used") + sum(actors.coupleds, "blocks_used");
  auto all = used + sum(actors.decodes, "blocks_free")
             + sum(actors.coupleds, "blocks_free")
             + sum(actors.coupleds, "blocks_cached");
  to.add("vllm:kv_cache_usage_perc", "Share of the decode arenas that is in use", of,
         all > 0 ? used / all : 0);
  auto config = of;
  config.push_back({"block_size", std::to_string(from.block_tokens)});
  config.push_back({"num_gpu_blocks", std::to_string(static_cast<std::uint64_t>(all))});
  to.add("vllm:cache_config_info", "Blocks of the decode arenas", std::move(config), 1);
}

} // namespace

std::string metrics_text(const metric_sources& from) {
  collection all;
  add_as_vllm(all, from);
  add_http(all, from.http);
  add_probes(all, "gateway", from.actors.gateways);
  add_probes(all, "rejector", from.actors.rejectors);
  add_probes(all, "conductor", from.actors.conductors);
  add_probes(all, "prefill", from.actors.prefills);
  add_probes(all, "decode", from.actors.decodes);
  add_probes(all, "coupled", from.actors.coupleds);
  add_probes(all, "shard", from.actors.shards);
  add_probes(all, "transfer", from.actors.transfers);
  add_lines(all, from.actors.transfers);
  add_probes(all, "fabric", from.actors.fabrics);
  add_probes(all, "engine", from.actors.engines);
  from.cluster.each([&](const char* name, const char* help, auto value) {
    all.add(std::string{"perigee_cluster_"} + name, help, {},
            static_cast<double>(value));
  });
  return all.text();
}

} // namespace perigee::app
