#include "tests/lab/small_cluster.hpp"

#include "actors/block_keys.hpp"
#include "actors/gateway/words.hpp"
#include "schemas/convert.hpp"
#include "tests/lab/left_over.hpp"

namespace perigee::test {

using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t block_tokens = 16;

} // namespace

// -- clients ------------------------------------------------------------------

void listener::opened(const gateway_actor& who) {
  gateway = who;
  for (auto& [stream, answer] : answers)
    if (answer.end == gateway::stream_end::not_yet)
      answer.lost_gateway = true;
}

void listener::hear(std::vector<gateway::stream_news> news) {
  for (auto& one : news) {
    auto& answer = answers[one.stream];
    if (answer.ends > 0)
      complaints.push_back("stream " + std::to_string(one.stream)
                           + " heard more after its end");
    if (answer.tokens.empty() && !one.tokens.empty()) {
      answer.first_at = one.taken_at;
      answer.first = one.stages;
      answer.cached_tokens = one.cached_tokens;
    }
    for (const auto& drawn : one.tokens)
      answer.tokens.push_back(drawn.token);
    if (one.end == gateway::stream_end::not_yet)
      continue;
    answer.ended_at = one.taken_at;
    answer.end = one.end;
    answer.why = one.why;
    answer.last = one.stages;
    ++answer.ends;
  }
}

right_answer right_answer_to(const question& what,
                             const engine::modelled_options& model) {
  auto tokens = engine::expected_tokens(model, what.prompt, what.how, what.tokens_max);
  if (!tokens.empty() && tokens.back() == engine::modelled_end) {
    tokens.pop_back();
    return {tokens, gateway::stream_end::stop};
  }
  return {tokens, gateway::stream_end::length};
}

void set_question(schema::Submit::Builder to, std::uint64_t stream,
                  const question& what) {
  to.setStream(stream);
  auto tokens = to.initTokens(static_cast<unsigned>(what.prompt.size()));
  for (unsigned i = 0; i < tokens.size(); ++i)
    tokens.set(i, what.prompt[i]);
  to.setLast(true);
  gateway::set_sampling(to.initSampling(), what.how);
  to.setTokensMax(what.tokens_max);
  to.setRemainingNs(static_cast<std::uint64_t>(what.limit.count()));
  key_root root;
  auto chain = to.initChain();
  auto first = root_key(root);
  set_chain(chain, keys_of(first, what.prompt, block_tokens));
  chain.setBlockTokens(block_tokens);
  chain.initRoot().setHigh(first.high);
  chain.getRoot().setLow(first.low);
}

// -- the cluster --------------------------------------------------------------

namespace {

cluster::topology topology_of(const cluster_shape& shape,
                              const engine::kv_layout& layout) {
  cluster::topology all;
  auto bytes = [&](unsigned blocks) {
    return cluster::byte_size{blocks * layout.block_bytes()};
  };
  for (unsigned i = 0; i < shape.nodes; ++i) {
    cluster::node one;
    one.name = "n" + std::to_string(i);
    if (shape.is_coupled()) {
      one.coupled_instances.push_back({"modelled", "lab", 1, bytes(shape.decode_blocks),
                                       shape.scheduler, shape.chunk_tokens,
                                       shape.batch_max, shape.prefix_cache});
      all.nodes.push_back(one);
      continue;
    }
    one.cache_shard = cluster::cache_shard_settings{bytes(shape.shard_blocks)};
    if (shape.ssd_blocks > 0)
      one.cache_shard->ssd = cluster::ssd_settings{"", bytes(shape.ssd_blocks)};
    one.prefill_groups.push_back(
      {1, "modelled", "lab", 1, bytes(shape.prefill_blocks)});
    one.decode_instances.push_back(
      {"modelled", "lab", 1, bytes(shape.decode_blocks), shape.batch_max});
    all.nodes.push_back(one);
  }
  all.cluster.control = "n0";
  all.policy.prefill_chunk = shape.chunk_tokens;
  all.policy.steps_max = shape.steps_max;
  all.policy.admission = "none";
  if (shape.is_coupled())
    all.policy.placement = "cache_aware";
  all.hardware["lab"].transfer_gib_per_s = 0.001;
  all.hardware["lab"].transfer_fixed_us = 50;
  all.hardware["lab"].load_gib_per_s = 0.002;
  all.hardware["lab"].store_gib_per_s = 0.002;
  all.hardware["lab"].ssd_read_gib_per_s = 0.004;
  all.hardware["lab"].ssd_write_gib_per_s = 0.001;
  return all;
}

conductor::cost_model lab_cost() {
  conductor::cost_model cost;
  return cost;
}

} // namespace

small_cluster::small_cluster(std::uint64_t seed, cluster_shape shape)
  : shape_(shape), bench_(seed) {
  model_.checked = true;
  model_.seed = 7;
  auto all = topology_of(shape, model_.layout);
  cluster::means with;
  with.layout = model_.layout;
  with.cost = lab_cost();
  with.patron = clients_;
  with.driving = engine_host::driving::timed;
  with.make_paths = transfer::inline_path;
  with.make_engine = [this](const cluster::engine_wish& wish)
    -> result<std::shared_ptr<engine::engine>, std::string> {
    auto how = model_;
    how.arena_blocks
      = static_cast<std::uint32_t>(wish.arena.bytes / model_.layout.block_bytes());
    return std::shared_ptr<engine::engine>(engine::make_modelled_engine(how));
  };
  auto units = cluster::inventory(bench_.world(), all, with, probes_);
  cluster_ = bench_.adopt(
    cluster::start(bench_.world(), {}, bench_.roster(), std::move(units)));
  bench_.advance(1s);
}

small_cluster::~small_cluster() = default;

std::uint64_t small_cluster::ask(const question& what) {
  auto stream = ++streams_;
  clients_->answers[stream].asked_at = bench_.now();
  bench_.tell<schema::Submit>(clients_->gateway, [&](schema::Submit::Builder wish) {
    set_question(wish, stream, what);
  });
  return stream;
}

void small_cluster::withdraw(std::uint64_t stream) {
  clients_->answers[stream].withdrawn = true;
  bench_.tell<schema::Withdraw>(clients_->gateway,
                                [&](auto wish) { wish.setStream(stream); });
}

right_answer small_cluster::expected(const question& what) const {
  return right_answer_to(what, model_);
}

std::string small_cluster::kill_one(std::uint64_t pick) {
  auto node = node_index{static_cast<std::uint32_t>(pick / 8 % shape_.nodes)};
  auto kill = [&]<class Handle>(rt::name<Handle> whom, const char* role) {
    if (auto found = bench_.roster().find(whom))
      rt::kill(found->actor);
    return std::string{role} + " of node "
           + std::to_string(static_cast<std::uint32_t>(whom.node));
  };
  if (pick % 61 == 60)
    return kill(fabric_name{}, "fabric");
  switch (pick % 8) {
    case 0: return kill(gateway_name{}, "gateway");
    case 1: return kill(rejector_name{}, "rejector");
    case 2: return kill(conductor_name{}, "conductor");
    case 3:
      return shape_.is_coupled() ? kill(coupled_name{node}, "coupled")
                                 : kill(prefill_name{node}, "prefill");
    case 4: return kill(decode_name{node}, "decode");
    case 5: return kill(shard_name{node}, "shard");
    case 6: return kill(transfer_name{node}, "transfer");
    default: {
      auto engines = shape_.is_coupled() ? 1 : 2;
      return kill(engine_name{node, static_cast<std::uint32_t>(pick / 64 % engines)},
                  "engine");
    }
  }
}

void small_cluster::settle_all() {
  bench_.advance(20min);
}

std::vector<std::string> small_cluster::left_over() const {
  auto found = test::left_over(probes_);
  found.insert(found.begin(), clients_->complaints.begin(), clients_->complaints.end());
  for (const auto& [stream, answer] : clients_->answers)
    if (answer.ends != 1 && !answer.withdrawn && !answer.lost_gateway)
      found.push_back("stream " + std::to_string(stream) + " ended "
                      + std::to_string(answer.ends) + " times");
  return found;
}

} // namespace perigee::test
