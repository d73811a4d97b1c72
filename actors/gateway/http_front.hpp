/// \file
/// http_front: the front desk of a cluster.
#pragma once

#include "actors/gateway/cluster_door.hpp"
#include "actors/gateway/http_bench.hpp"
#include "actors/gateway/http_exchange.hpp"
#include "actors/gateway/http_server.hpp"
#include "actors/gateway/served_model.hpp"
#include "actors/gateway/stream_news.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace perigee::gateway {

struct front_settings {
  std::size_t bench_threads = 1;
  std::size_t bench_waiting_max = 1024;

  /// Bodies above it have a thread of their own, so that short ones do not wait for
  /// them.
  std::size_t long_body_bytes = std::size_t{32} << 10;
  std::size_t long_waiting_max = 128;

  /// After it an answer is given up, whatever the cluster says. Later than the
  /// cluster's own limits, which end a request in order.
  std::chrono::milliseconds give_up_after{660'000};

  std::string version;        ///< Of the program.
  std::int64_t started_s = 0; ///< Since 1970: when the model was made available.
  std::uint64_t seed = 1;     ///< Of requests that bring none.
  std::uint64_t stream_first = 1;

  std::function<bool()> is_ready;       ///< Whether requests can be served now.
  std::function<std::string()> metrics; ///< In Prometheus' text format.
};

/// Answers what needs no cluster, prepares what does on a bench, submits it, and writes
/// the answers as they come.
///
/// Called on the server's thread, but for the constructor. Server and door outlive it;
/// its server must have stopped before it is destroyed.
class http_front final : public front_desk {
public:
  http_front(front_settings how, served_model model, http_server& server,
             cluster_door& door);

  void take(http_call call, std::shared_ptr<http_line> line) override;
  void abandon(std::uint64_t number) override;
  void tick() override;

  /// Whoever waits for an answer is told that none will come.
  void close() override;

  // -- from the cluster -------------------------------------------------------

  void hear(std::vector<stream_news> all);
  void hear(prompt_scores scores);

  /// Another gateway has come in place of the one that had all streams, if there was
  /// one.
  void begin_again();

private:
  using exchange_ptr = std::unique_ptr<http_exchange>;

  void answer_generation(http_call call, std::shared_ptr<http_line> line);
  void answer_tokenization(http_call call, std::shared_ptr<http_line> line);
  http_answer answer_now(const http_call& call) const;
  http_answer readiness(bool ready) const;
  std::string models_json() const;
  std::string model_json() const;
  void put_on_bench(std::uint64_t number, const std::shared_ptr<http_line>& line,
                    std::size_t body_bytes, http_bench::job one);
  bool take_from_bench(std::uint64_t number);
  void begin(const http_call& call, exchange_start from,
             api_result<prepared_request> ready);
  void settle(std::uint64_t number);
  http_exchange* find(std::uint64_t stream);

  front_settings how_;
  served_model model_;
  http_server& server_;
  cluster_door& door_;
  std::map<std::uint64_t, std::shared_ptr<http_line>> preparing_; ///< By call.
  std::map<std::uint64_t, exchange_ptr> exchanges_;               ///< By call.
  std::map<std::uint64_t, std::uint64_t> by_stream_; ///< First stream to call.
  std::uint64_t stream_;                             ///< The next that is free.
  std::uint64_t seed_;
  http_bench bench_; // last, with the next: their threads end first
  http_bench long_bench_;
};

} // namespace perigee::gateway
