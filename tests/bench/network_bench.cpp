/// \file
/// What a message between processes costs: two actor systems that talk over 127.0.0.1,
/// without TLS and with it, in turns.
/// Run by hand: `network_bench [FOLDER NODE]`, with the folder that `perigee certs`
/// makes, and a node's name.
#include "actors/cluster/introductions.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/runtime/doorway.hpp"
#include "actors/runtime/network.hpp"

#include <caf/atom.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <future>
#include <vector>

namespace perigee {
namespace {

using clock = std::chrono::steady_clock;
using answering_actor = rt::actor_of<Msg<schema::Welcome>(Msg<schema::Hello>)>;
using asking_actor = rt::actor_of<void(Msg<schema::Tick>)>;

/// Answers with a text of so many bytes.
class answering_state {
public:
  using handle = answering_actor;
  static constexpr const char* name = "answering";

  answering_state(handle::pointer self, const rt::world& in, std::size_t bytes)
    : desk_(self, in, name), text_(bytes, 'x') {}

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &answering_state::on_hello)};
  }

private:
  rt::reply<schema::Welcome> on_hello(const Msg<schema::Hello>& wish) {
    return desk_.write<schema::Welcome>(wish,
                                        [&](auto said) { said.setTurnedAway(text_); });
  }

  rt::desk<handle> desk_;
  std::string text_;
};

struct plan {
  std::uint64_t pairs = 0;
  std::uint64_t open = 1; ///< At once.
};

/// When told, asks; promises the seconds that it took.
class asking_state {
public:
  using handle = asking_actor;
  static constexpr const char* name = "asking";

  asking_state(handle::pointer self, const rt::world& in, answering_actor whom,
               plan how, std::shared_ptr<std::promise<double>> took)
    : desk_(self, in, name), whom_(std::move(whom)), how_(how), took_(std::move(took)) {
  }

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &asking_state::on_tick)};
  }

private:
  void on_tick(const Msg<schema::Tick>&) {
    began_ = clock::now();
    for (std::uint64_t i = 0; i < how_.open; ++i)
      ask();
  }

  void ask() {
    ++asked_;
    desk_
      .ask<schema::Hello>(whom_, std::chrono::seconds{30}, rt::unprompted, [](auto) {})
      .then([this](const Msg<schema::Welcome>&) { on_welcome(); },
            [](const rt::error& why) {
              std::fprintf(stderr, "network_bench: %s\n", to_string(why).c_str());
              std::exit(1);
            });
  }

  void on_welcome() {
    if (asked_ < how_.pairs)
      ask();
    if (++answered_ == how_.pairs)
      took_->set_value(std::chrono::duration<double>(clock::now() - began_).count());
  }

  rt::desk<handle> desk_;
  answering_actor whom_;
  plan how_;
  std::shared_ptr<std::promise<double>> took_;
  clock::time_point began_;
  std::uint64_t asked_ = 0, answered_ = 0;
};

/// A system as a node has it.
struct node {
  explicit node(const std::optional<rt::network_certificates>& tls)
    : system(configure(config, tls)),
      world{system, rt::no_journal(), roster,
            std::make_shared<spdlog::logger>(
              "", std::make_shared<spdlog::sinks::null_sink_mt>()),
            "n0"},
      net(system, tls.has_value()) {}

  static rt::system_config&
  configure(rt::system_config& config,
            const std::optional<rt::network_certificates>& tls) {
    config.set("scheduler.policy", caf::atom("sharing"));
    rt::learn_messages<caf::id_block::perigee, caf::id_block::perigee_nodes>(config);
    rt::network_options how;
    how.tls = tls;
    rt::load_network(config, how);
    return config;
  }

  rt::roster roster{64};
  rt::system_config config;
  caf::actor_system system;
  rt::world world;
  rt::network net;
};

template <class T>
T must(result<T, std::string> what) {
  if (!what) {
    std::fprintf(stderr, "network_bench: %s\n", what.error().c_str());
    std::exit(1);
  }
  return std::move(*what);
}

/// Seconds that `how` takes.
double run(const std::optional<rt::network_certificates>& tls, std::size_t bytes,
           plan how) {
  node there{tls}, here{tls};
  auto answering = rt::spawn<answering_state>(there.world, {}, bytes);
  auto port = must(there.net.publish(answering, "127.0.0.1", 0));
  auto found = must(
    here.net.connect<answering_actor>("127.0.0.1", port, std::chrono::seconds{10}));
  auto took = std::make_shared<std::promise<double>>();
  auto seconds = took->get_future();
  auto asking = rt::spawn<asking_state>(here.world, {}, found, how, took);
  rt::doorway{here.world, "bench"}.tell<schema::Tick>(asking, rt::unprompted,
                                                      [](auto) {});
  auto came = seconds.get();
  rt::kill(asking);
  rt::kill(answering);
  return came;
}

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all[all.size() / 2];
}

/// Of five runs each, in turns.
void compare(const std::optional<rt::network_certificates>& tls, std::size_t bytes) {
  constexpr plan one_at_a_time{2'000, 1}, many{40'000, 64};
  std::array<std::vector<double>, 2> trips, spans;
  for (int turn = 0; turn < 5; ++turn)
    for (std::size_t way = 0; way < (tls ? 2u : 1u); ++way) {
      const auto& by = way == 0 ? std::nullopt : tls;
      trips[way].push_back(run(by, bytes, one_at_a_time));
      spans[way].push_back(run(by, bytes, many));
    }
  for (std::size_t way = 0; way < trips.size(); ++way)
    if (!trips[way].empty())
      std::printf(
        "%-5s  answers of %5zu bytes: %6.0f us a round trip, %7.0f pairs/s with "
        "64 open\n",
        way == 0 ? "plain" : "TLS", bytes,
        median(trips[way]) * 1e6 / double(one_at_a_time.pairs),
        double(many.pairs) / median(spans[way]));
}

} // namespace
} // namespace perigee

int main(int count, char** words) {
  if (count != 1 && count != 3) {
    std::fprintf(stderr, "usage: network_bench [FOLDER NODE], of perigee certs\n");
    return 2;
  }
  std::optional<perigee::rt::network_certificates> tls;
  if (count == 3) {
    std::string own = std::string{words[1]} + '/' + words[2];
    tls = {std::string{words[1]} + "/ca.pem", own + ".pem", own + ".key"};
  }
  for (std::size_t bytes : {0u, 1000u})
    perigee::compare(tls, bytes);
}
