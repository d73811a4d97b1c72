#include "actors/gateway/http_link.hpp"

#include "actors/gateway/words.hpp"
#include "actors/runtime/doorway.hpp"
#include "schemas/convert.hpp"
#include "schemas/limits.capnp.h"

#include <algorithm>
#include <atomic>

namespace perigee::gateway {
namespace {

std::uint64_t to_ns(std::chrono::nanoseconds span) {
  return span.count() > 0 ? static_cast<std::uint64_t>(span.count()) : 0;
}

/// Tells the actor what the server's thread wants.
class actor_door final : public cluster_door {
public:
  explicit actor_door(const rt::world& in) : door_(in, "http") {}

  rt::actor_tag tag() const {
    return door_.tag();
  }

  void lead_to(gateway_actor who) {
    gateway_ = std::move(who);
  }

  void lead_nowhere() {
    gateway_ = nullptr;
  }

  bool leads_anywhere() const {
    return static_cast<bool>(gateway_);
  }

  bool submit(const submission& wish) override {
    if (!gateway_)
      return false;
    constexpr std::size_t part_max = schema::PART_TOKENS_MAX;
    for (std::size_t at = 0; at < wish.tokens.size(); at += part_max)
      submit_part(wish, at, std::min(part_max, wish.tokens.size() - at));
    return true;
  }

  void withdraw(std::uint64_t stream) override {
    if (gateway_)
      door_.tell<schema::Withdraw>(gateway_, cause_of(stream, {}),
                                   [&](auto wish) { wish.setStream(stream); });
  }

  std::chrono::nanoseconds now() const override {
    return door_.now();
  }

private:
  static rt::cause cause_of(std::uint64_t stream, const trace_id& trace) {
    rt::cause why;
    why.request = stream;
    why.trace_high = trace.high;
    why.trace_low = trace.low;
    return why;
  }

  void submit_part(const submission& wish, std::size_t at, std::size_t size) {
    door_.tell<schema::Submit>(
      gateway_, cause_of(wish.stream, wish.trace), [&](schema::Submit::Builder part) {
        part.setStream(wish.stream);
        part.setFirstToken(static_cast<std::uint32_t>(at));
        auto tokens = part.initTokens(static_cast<unsigned>(size));
        for (unsigned i = 0; i < size; ++i)
          tokens.set(i, wish.tokens[at + i]);
        if (at + size == wish.tokens.size())
          fill_last(part, wish);
      });
  }

  static void fill_last(schema::Submit::Builder part, const submission& wish) {
    part.setLast(true);
    set_sampling(part.initSampling(), *wish.sampling);
    part.setPromptLogprobs(static_cast<std::int16_t>(wish.prompt_logprobs));
    part.setTokensMax(wish.tokens_max);
    auto chain = part.initChain();
    set_chain(chain, wish.chain);
    chain.setBlockTokens(static_cast<std::uint16_t>(wish.block_tokens));
    chain.initRoot().setHigh(wish.root.high);
    chain.getRoot().setLow(wish.root.low);
    part.setTtftLimitNs(to_ns(wish.ttft_limit));
    part.setTbtLimitNs(to_ns(wish.tbt_limit));
    auto stages = part.initStages();
    stages.setParseNs(to_ns(wish.parse));
    stages.setTokenizeNs(to_ns(wish.tokenize));
  }

  rt::doorway door_;
  gateway_actor gateway_;
};

class linked_server final : public http_link {
public:
  linked_server(const rt::world& in, std::unique_ptr<http_server> server,
                front_settings front, served_model model)
    : door_(in), server_(std::move(server)),
      front_(seeded(std::move(front), in), std::move(model), *server_, door_) {}

  ~linked_server() override {
    stop(std::chrono::milliseconds{0});
  }

  std::uint16_t port() const override {
    return server_->port();
  }

  void serve() override {
    server_->start(front_);
  }

  bool has_gateway() const override {
    return has_gateway_;
  }

  void stop(std::chrono::milliseconds limit) override {
    server_->stop(limit);
    door_.lead_nowhere(); // nobody uses it any more: its thread has ended
  }

  const http_probe& probe() const override {
    return server_->probe();
  }

  // -- as the actor's patron --------------------------------------------------

  void opened(const gateway_actor& gateway) override {
    server_->post([this, gateway] {
      bool is_successor = door_.leads_anywhere();
      door_.lead_to(gateway);
      has_gateway_ = true;
      if (is_successor)
        front_.begin_again();
    });
  }

  void hear(std::vector<stream_news> news) override {
    server_->post([this, all = std::make_shared<std::vector<stream_news>>(
                           std::move(news))] { front_.hear(std::move(*all)); });
  }

  void hear(prompt_scores scores) override {
    server_->post([this, all = std::make_shared<prompt_scores>(std::move(scores))] {
      front_.hear(std::move(*all));
    });
  }

private:
  /// Streams of two lives, or two gateways, never have the same name.
  front_settings seeded(front_settings how, const rt::world& in) const {
    how.stream_first = static_cast<std::uint64_t>(door_.tag()) >> 1; // room to count
    how.seed = rt::mix(in.seed ^ static_cast<std::uint64_t>(door_.tag()));
    return how;
  }

  std::atomic<bool> has_gateway_{false};
  actor_door door_;
  std::unique_ptr<http_server> server_;
  http_front front_;
};

} // namespace

result<std::shared_ptr<http_link>, std::string> http_link::open(const rt::world& in,
                                                                http_settings http,
                                                                front_settings front,
                                                                served_model model) {
  http.id_seed = rt::mix(in.seed + in.life);
  auto server = http_server::open(std::move(http));
  if (!server)
    return failure(server.error());
  return std::shared_ptr<http_link>{std::make_shared<linked_server>(
    in, std::move(*server), std::move(front), std::move(model))};
}

} // namespace perigee::gateway
