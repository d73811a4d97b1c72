#include "apps/perigee/replay/replay.hpp"

#include "apps/perigee/replay/readings.hpp"
#include "apps/perigee/replay/trace_clients.hpp"
#include "apps/perigee/replay/virtual_cluster.hpp"

#include <algorithm>

namespace perigee::app {
namespace {

using std::chrono::nanoseconds;

/// Long enough for everybody to report a load, and for shards to be known.
constexpr std::chrono::seconds start_up{2};

/// A request that nobody ends is a bug; the cluster's own limit is shorter.
constexpr std::chrono::hours patience{48};

constexpr cluster::count steps_max = 1024; // as much as a topology may say

/// As the Mooncake paper counts replicas (FAST'25, figure 11).
constexpr std::chrono::seconds replicas_every{30};

/// Blocks whose requests are counted: about 10 MB.
constexpr std::size_t keys_max = std::size_t{1} << 18;

/// One replay, while it lasts.
class run {
public:
  run(const cluster::topology& all, const model_outline& of, const replay_settings& how,
      std::shared_ptr<spdlog::logger> log, const progress_ear& told,
      rt::journal& record)
    : told_(told), block_tokens_(of.layout.block_tokens),
      clients_(
        std::make_shared<trace_clients>(of.layout.block_tokens, of.info.vocabulary)),
      cluster_(all, of, clients_, how.seed, start_up, std::move(log), record),
      loads_(how.read_every, readings_of(cluster_, all)),
      replicas_(replicas_every, replicas_of(cluster_, asked_for_)) {
    cluster_.run_until(start_up);
  }

  void send(const workload::request& one) {
    run_until(one.arrival);
    clients_->send(cluster_.door(), one, cluster_.now());
    asked_for_.add(whole_blocks_of(one, block_tokens_));
    told_(++sent_, now());
  }

  replayed finish() {
    send_turns(std::nullopt);
    while (clients_->open() > 0 && run_to_next(cluster_.now() + patience))
      told_(sent_, now());
    return {clients_->take_outcomes(start_up), clients_->gaps().sum(), now(),
            loads_.take(now()), replicas_.take(now())};
  }

private:
  /// Since the trace's beginning.
  nanoseconds now() const {
    return cluster_.now() - start_up;
  }

  nanoseconds next_reading() const {
    return std::min(loads_.next(), replicas_.next());
  }

  void run_until(nanoseconds moment) {
    send_turns(start_up + moment);
    pass_until(moment);
  }

  /// Sends what is due by `limit`, or all there is. Any answer may make another turn due,
  /// so time goes from one moment at which something happens to the next.
  void send_turns(std::optional<nanoseconds> limit) {
    while (clients_->waits()) {
      auto due = clients_->next_due();
      auto end = limit.value_or(due.value_or(cluster_.now() + patience));
      if (run_to_next(due ? std::min(*due, end) : end))
        continue;
      if (!due || *due > end)
        return;
      pass_until(*due - start_up);
      clients_->send_next(cluster_.door(), cluster_.now());
      told_(sent_, now());
    }
  }

  /// All that falls due at a moment has happened before anybody looks.
  void pass_until(nanoseconds moment) {
    while (next_reading() <= moment)
      read();
    cluster_.run_until(start_up + moment);
  }

  void read() {
    auto moment = next_reading();
    cluster_.run_until(start_up + moment);
    for (auto* some : {&loads_, &replicas_})
      if (some->next() == moment)
        some->read();
  }

  /// False if nothing happens until `limit`.
  bool run_to_next(nanoseconds limit) {
    while (start_up + next_reading() <= limit) {
      if (cluster_.run_to_next(start_up + next_reading()))
        return true;
      read();
    }
    return cluster_.run_to_next(limit);
  }

  const progress_ear& told_;
  const std::size_t block_tokens_;
  std::shared_ptr<trace_clients> clients_;
  virtual_cluster cluster_;
  key_ranks asked_for_{keys_max};
  recorder loads_;
  recorder replicas_;
  std::size_t sent_ = 0;
};

} // namespace

std::optional<std::string> find_obstacle(const cluster::topology& all,
                                         std::uint32_t lengths_divided_by) {
  auto expected = workload::block_tokens / lengths_divided_by;
  if (all.model.block_tokens != expected)
    return "model.block_tokens is " + std::to_string(all.model.block_tokens)
           + ": expected " + std::to_string(expected)
           + (lengths_divided_by == 1 ? ", the blocks of a trace"
                                      : ", the blocks of a trace so divided");
  bool prefills = false;
  bool decodes = false;
  bool coupled = false;
  for (const auto& node : all.nodes) {
    for (const auto& group : node.prefill_groups)
      if (group.engine != "modelled")
        return node.name + " has a prefill group whose engine is \"" + group.engine
               + "\": expected \"modelled\", for virtual time";
    for (const auto& instance : node.decode_instances)
      if (instance.engine != "modelled")
        return node.name + " has a decode instance whose engine is \"" + instance.engine
               + "\": expected \"modelled\", for virtual time";
    for (const auto& instance : node.coupled_instances)
      if (instance.engine != "modelled")
        return node.name + " has a coupled instance whose engine is \""
               + instance.engine + "\": expected \"modelled\", for virtual time";
    prefills = prefills || !node.prefill_groups.empty();
    decodes = decodes || !node.decode_instances.empty();
    coupled = coupled || !node.coupled_instances.empty();
  }
  if (coupled)
    return std::nullopt;
  if (!prefills)
    return "no node has a prefill group";
  if (!decodes)
    return "no node has a decode instance";
  return std::nullopt;
}

cluster::topology with_long_runs(cluster::topology all) {
  if (!is_coupled(all))
    all.policy.steps_max = steps_max;
  return all;
}

result<replayed, std::string> replay(const cluster::topology& all,
                                     const model_outline& of,
                                     workload::request_source& trace,
                                     const replay_settings& how,
                                     std::shared_ptr<spdlog::logger> log,
                                     const progress_ear& told, rt::journal& record) {
  run now{all, of, how, std::move(log), told, record};
  for (;;) {
    auto got = trace.next();
    if (!got)
      return failure(workload::to_string(got.error()));
    if (!*got)
      return now.finish();
    now.send(**got);
  }
}

} // namespace perigee::app
