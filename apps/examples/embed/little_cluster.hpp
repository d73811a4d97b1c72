/// \file
/// little_cluster: Perigee's actors in a system of one's own.
#pragma once

#include "actors/cluster/cluster.hpp"
#include "actors/cluster/inventory.hpp"
#include "actors/runtime/doorway.hpp"

#include <future>
#include <memory>
#include <mutex>
#include <string>

namespace embed {

/// The settings of one's own system. It may know more messages than Perigee's, and run
/// other actors beside them.
class own_config : public perigee::rt::system_config {
public:
  own_config();
};

/// Asks for one answer at a time, and waits for it.
class patient_client final : public perigee::gateway::patron {
public:
  /// To be called before a request is submitted.
  std::future<std::string> expect_answer();

  void opened(const perigee::gateway_actor& gateway) override;
  void hear(std::vector<perigee::gateway::stream_news> news) override;
  void hear(perigee::gateway::prompt_scores scores) override;

private:
  std::mutex mutex_;
  std::promise<std::string> answer_;
  std::string letters_;
};

/// One node with a prefill group and a decode instance, each with a parrot.
class little_cluster {
public:
  /// `name` is the node's. Its actors log to `log`. Returns once they take requests.
  little_cluster(std::string name, std::uint32_t period,
                 std::shared_ptr<spdlog::logger> log);

  /// Ends all actors, and then the system.
  ~little_cluster();

  /// What the parrots make of `prompt`: so many letters, or a word on what went wrong.
  std::string ask(const std::string& prompt, std::uint32_t letters);

  const perigee::cluster::probes& counts() const {
    return counts_;
  }

private:
  void submit(const std::string& prompt, std::uint32_t letters);

  own_config config_;
  caf::actor_system system_;
  perigee::rt::roster roster_;
  perigee::rt::world world_;
  perigee::cluster::probes counts_;
  std::shared_ptr<perigee::cluster::probe> state_
    = std::make_shared<perigee::cluster::probe>();
  std::shared_ptr<patient_client> client_ = std::make_shared<patient_client>();
  perigee::cluster_actor cluster_;
  perigee::rt::doorway door_;
  std::uint64_t streams_ = 0;
};

} // namespace embed
