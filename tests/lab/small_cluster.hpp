/// \file
/// A whole cluster in the lab: every role, modelled engines whose KV is real, and
/// clients who know what they must be answered.
#pragma once

#include "actors/cluster/cluster.hpp"
#include "actors/cluster/inventory.hpp"
#include "engine/modelled/modelled_engine.hpp"
#include "tests/lab/perigee_messages.hpp"

#include <map>
#include <string>
#include <vector>

namespace perigee::test {

/// What a client asks for.
struct question {
  std::vector<engine::token_id> prompt;
  engine::sampling_params how;
  std::uint32_t tokens_max = 16;
  std::chrono::nanoseconds limit{}; ///< 0: the cluster's.
};

/// What it was told.
struct told {
  std::vector<engine::token_id> tokens;
  gateway::stream_end end = gateway::stream_end::not_yet;
  std::optional<gateway::api_error> why;
  std::uint32_t cached_tokens = 0;
  std::optional<gateway::timings> first, last; ///< With first token, and end.
  std::chrono::nanoseconds asked_at{}, first_at{}, ended_at{};
  bool withdrawn = false;
  bool lost_gateway = false; ///< It was put to one that died.
  int ends = 0;
};

/// Hears all answers.
class listener final : public gateway::patron {
public:
  void opened(const gateway_actor& gateway) override;
  void hear(std::vector<gateway::stream_news> news) override;
  void hear(gateway::prompt_scores) override {}

  gateway_actor gateway;
  std::map<std::uint64_t, told> answers; // by stream
  std::vector<std::string> complaints;
};

/// What a question must be answered with, and why that then ends.
struct right_answer {
  std::vector<engine::token_id> tokens;
  gateway::stream_end end = gateway::stream_end::length;
};

/// What engines made with `model` say to `what`.
right_answer right_answer_to(const question& what,
                             const engine::modelled_options& model);

/// As the HTTP side would put `what` to the gateway.
void set_question(schema::Submit::Builder to, std::uint64_t stream,
                  const question& what);

struct cluster_shape {
  unsigned nodes = 2; ///< Each with a shard, a prefill group and a decode instance.
  unsigned prefill_blocks = 64;
  unsigned decode_blocks = 64;
  unsigned shard_blocks = 256;
  unsigned ssd_blocks = 0; ///< Of the disk below a shard; 0: there is none.
  std::uint32_t chunk_tokens = 64;
  std::uint32_t steps_max = 1;
  std::uint32_t batch_max = 8;

  /// Of coupled instances: then each node has one of `decode_blocks`, and nothing else.
  std::string scheduler = {};
  bool prefix_cache = true;

  bool is_coupled() const {
    return !scheduler.empty();
  }
};

/// One per test. Its engines are checked: KV that goes astray changes tokens.
class small_cluster {
public:
  explicit small_cluster(std::uint64_t seed, cluster_shape shape = {});
  ~small_cluster();

  lab<caf::id_block::perigee>& bench() {
    return bench_;
  }
  const cluster::probes& probes() const {
    return probes_;
  }
  listener& clients() {
    return *clients_;
  }

  /// Puts `what` to the gateway. Returns the stream.
  std::uint64_t ask(const question& what);
  void withdraw(std::uint64_t stream);

  right_answer expected(const question& what) const;

  /// Kills the actor that `pick`, a number from a seed, chooses; never the cluster.
  /// Returns its role and node, for INFO.
  std::string kill_one(std::uint64_t pick);

  /// Runs until nothing is open any more, and longer than any lease.
  void settle_all();

  /// What is held by anybody although nothing is open: nothing, if all is well.
  std::vector<std::string> left_over() const;

private:
  cluster_shape shape_;
  engine::modelled_options model_;
  std::shared_ptr<listener> clients_ = std::make_shared<listener>();
  cluster::probes probes_;
  lab<caf::id_block::perigee> bench_;
  cluster_actor cluster_;
  std::uint64_t streams_ = 0;
};

} // namespace perigee::test
