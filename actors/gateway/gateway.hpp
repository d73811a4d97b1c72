/// \file
/// The gateway's actor: sends requests into the cluster, and hands out what comes back.
#pragma once

#include "actors/gateway/probe.hpp"
#include "actors/gateway/stream_news.hpp"
#include "actors/interfaces.hpp"
#include "actors/runtime/world.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace perigee::gateway {

/// Whom a gateway serves: the HTTP server's desk, or a trace's reader. Outlives the
/// actor. All is called by the actor, in its order, and must not keep it.
class patron {
public:
  virtual ~patron() = default;

  /// `gateway` takes requests from now on. Of those that were told to an earlier one,
  /// nothing more will be heard.
  virtual void opened(const gateway_actor& gateway) = 0;

  virtual void hear(std::vector<stream_news> news) = 0;
  virtual void hear(prompt_scores scores) = 0;
};

struct options {
  node_index control{}; ///< Where rejector and conductor are, each of index 0.

  /// Open at once, those that are being submitted among them. More are refused.
  std::size_t requests_max = 4096;

  /// Tokens of their prompts, all together, until the first token of an answer comes.
  std::size_t prompt_tokens_max = std::size_t{16} << 20;

  /// How long a request may take that names no limit, and at most.
  std::chrono::milliseconds request_limit{600'000};

  /// By how much the gateway's own deadline comes after that of the instances.
  std::chrono::milliseconds grace{2'000};

  std::chrono::milliseconds submit_limit{10'000}; ///< From the first part to the last.
  std::chrono::milliseconds cancel_limit{30'000}; ///< For all to say Cancelled.
  unsigned attempts_max = 3; ///< To place a request, as long as no token has come.

  /// Before the last attempt, if it is an instance that knows of a loss, until all others
  /// were told of it: they notice that a node is silent at different times.
  std::chrono::milliseconds news_limit{2'000};
};

/// As a journal keeps them: "control=0 requests_max=4096 ...".
std::string to_string(const options& how);

/// Starts a gateway at `where`. What it serves, it tells `whom`. Counts into `counts`.
gateway_actor start(const rt::world& in, rt::place where, std::shared_ptr<patron> whom,
                    options how = {},
                    std::shared_ptr<probe> counts = std::make_shared<probe>());

} // namespace perigee::gateway
