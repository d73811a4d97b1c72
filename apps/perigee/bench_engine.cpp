#include "apps/perigee/bench_engine.hpp"

#include "apps/perigee/busy_process.hpp"
#include "apps/perigee/machine_peak.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "engine/cpu/kernels/kernels.hpp"
#include "schemas/assert.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <optional>
#include <vector>

namespace perigee::app {
namespace {

using namespace engine;

constexpr std::uint32_t prefill_lengths[]{512, 2048};
constexpr std::uint32_t decode_batches[]{1, 4, 16};
constexpr std::uint32_t decode_context = 128;
constexpr std::uint32_t decode_steps = 32;
constexpr std::uint32_t block_tokens = 16;
constexpr double measure_s = 1.5;
constexpr int rounds_min = 3;

double seconds_of(auto&& body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  return spent.count();
}

/// The median of several rounds; the first is to warm up.
double median_seconds(auto&& body) {
  body();
  std::vector<double> rounds;
  for (double spent = 0; spent < measure_s || rounds.size() < rounds_min;) {
    rounds.push_back(seconds_of(body));
    spent += rounds.back();
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

/// Sequences of an engine, each with blocks of its own.
class bench_run {
public:
  bench_run(perigee::engine::engine& on, std::uint32_t sequences, std::uint32_t tokens)
    : on_{on} {
    auto blocks = (tokens + block_tokens - 1) / block_tokens;
    for (std::uint32_t i = 0; i < sequences; ++i) {
      tables_.emplace_back(blocks);
      std::iota(tables_.back().begin(), tables_.back().end(), i * blocks);
      sampling_params greedy;
      greedy.temperature = 0;
      picks_.emplace_back(greedy);
    }
    last_.resize(sequences);
    drawn_.resize(sequences);
  }

  void prefill(std::uint32_t tokens) {
    std::vector<token_id> prompt(tokens);
    for (std::uint32_t i = 0; i < tokens; ++i)
      prompt[i] = (i * 7919u + 13u) % std::min(on_.model().vocabulary, 40'000u);
    for (std::size_t i = 0; i < tables_.size(); ++i)
      for (std::uint32_t at = 0; at < tokens; at += on_.batch_tokens_max()) {
        auto count = std::min(on_.batch_tokens_max(), tokens - at);
        slice part{
          std::span{prompt}.subspan(at, count), at, tables_[i], nullptr, nullptr, {}};
        if (at + count == tokens)
          part.pick = &picks_[i], part.drawn = &drawn_[i];
        run({&part, 1});
      }
    position_ = tokens;
  }

  void decode(std::uint32_t steps) {
    for (std::uint32_t step = 0; step < steps; ++step, ++position_) {
      std::vector<slice> batch;
      for (std::size_t i = 0; i < tables_.size(); ++i) {
        last_[i] = drawn_[i].token;
        batch.push_back(
          {{&last_[i], 1}, position_, tables_[i], &picks_[i], &drawn_[i], {}});
      }
      run(batch);
    }
  }

  void rewind(std::uint32_t position) {
    position_ = position;
  }

private:
  void run(std::span<slice> batch) {
    PERIGEE_ASSERT(on_.run(batch, {}).has_value(), "a sound batch is run");
  }

  perigee::engine::engine& on_;
  std::uint32_t position_ = 0;
  std::vector<std::vector<std::uint32_t>> tables_;
  std::vector<sampler> picks_;
  std::vector<token_id> last_;
  std::vector<sampled> drawn_;
};

struct peaks {
  double bytes = 0;
  double multiply_adds = 0;
};

peaks measure_peaks(std::size_t threads) {
  return {peak_bytes(threads), peak_multiply_adds(threads)};
}

/// Others use the machine, too: what it did once it can do.
peaks better_of(const peaks& a, const peaks& b) {
  return {std::max(a.bytes, b.bytes), std::max(a.multiply_adds, b.multiply_adds)};
}

struct measure {
  std::string what;
  double tokens = 0; ///< Of a step: a whole prompt, or one token of each sequence.
  double seconds = 0;
  double bytes = 0; ///< That a step must read at least, once.
  double multiply_adds = 0;

  double rate() const {
    return tokens / seconds;
  }

  double floor_rate(const peaks& best) const {
    auto reading = bytes / best.bytes;
    auto multiplying
      = best.multiply_adds > 0 ? multiply_adds / best.multiply_adds : 0.0;
    return tokens / std::max(reading, multiplying);
  }
};

measure measure_prefill(perigee::engine::engine& on, const cpu::weights& model,
                        std::uint32_t tokens) {
  bench_run run{on, 1, tokens};
  auto seconds = median_seconds([&] { run.prefill(tokens); });
  return {"prefill " + std::to_string(tokens) + " tokens", static_cast<double>(tokens),
          seconds, static_cast<double>(model.bytes()),
          tokens * static_cast<double>(model.multiply_adds())};
}

measure measure_decode(perigee::engine::engine& on, const cpu::weights& model,
                       std::uint32_t batch) {
  bench_run run{on, batch, decode_context + decode_steps};
  run.prefill(decode_context);
  auto seconds = median_seconds([&] {
    run.rewind(decode_context);
    run.decode(decode_steps);
  });
  auto layout = on.arena().layout;
  auto kv_bytes = batch * static_cast<double>(decode_context * layout.block_bytes())
                  / layout.block_tokens;
  return {"decode, batch " + std::to_string(batch), static_cast<double>(batch),
          seconds / decode_steps, static_cast<double>(model.bytes()) + kv_bytes,
          batch * static_cast<double>(model.multiply_adds())};
}

std::vector<measure> measure_all(perigee::engine::engine& on,
                                 const cpu::weights& model) {
  std::vector<measure> all;
  for (auto tokens : prefill_lengths)
    if (tokens <= on.model().context_tokens_max)
      all.push_back(measure_prefill(on, model, tokens));
  if (decode_context + decode_steps <= on.model().context_tokens_max)
    for (auto batch : decode_batches)
      all.push_back(measure_decode(on, model, batch));
  return all;
}

void print(const std::vector<measure>& all, const std::vector<measure>& loaded,
           const peaks& best) {
  std::printf("memory reads %.1f GB/s, int8 %.0f G multiply-adds/s (%s)\n\n",
              best.bytes * 1e-9, best.multiply_adds * 1e-9, peak_instructions());
  std::printf("%-22s %12s %14s %8s%s\n", "", "tokens/s", "floor allows", "reached",
              loaded.empty() ? "" : "   under load");
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto rate = all[i].rate();
    auto floor_rate = all[i].floor_rate(best);
    std::printf("%-22s %12.1f %14.1f %7.1f%%", all[i].what.c_str(), rate, floor_rate,
                100 * rate / floor_rate);
    if (!loaded.empty())
      std::printf("   %8.1f (%.2f)", loaded[i].rate(), loaded[i].rate() / rate);
    std::printf("\n");
  }
  std::printf("\nThe floor: reading weights and KV once a step, or multiplying by the "
              "weights,\nwhichever takes longer. Attention's own products are not in "
              "it.\n");
}

int failed(const std::string& why) {
  std::fprintf(stderr, "perigee: %s\n", why.c_str());
  return 1;
}

} // namespace

int bench_engine(const engine_bench& how) {
  std::shared_ptr<const cpu::weights> model;
  std::optional<std::string> fault;
  auto load_s = seconds_of([&] {
    if (auto loaded = cpu::load(how.model))
      model = *loaded;
    else
      fault = loaded.error().text();
  });
  if (fault)
    return failed(*fault);
  cpu::engine_options options;
  options.threads = how.threads;
  options.kernels = how.kernels;
  options.kv = how.kv_f32 ? kv_type::f32 : kv_type::f16;
  options.block_tokens = block_tokens;
  options.arena_blocks = 16 * (decode_context + decode_steps) / block_tokens;
  auto made = cpu::make_engine(model, options);
  if (!made)
    return failed(made.error().option + ": expected " + made.error().expected);

  std::printf(
    "%s: %.1f MB of weights, %.1f M multiply-adds a token, loaded in %.2f s\n",
    model->info.name.c_str(), static_cast<double>(model->bytes()) * 1e-6,
    static_cast<double>(model->multiply_adds()) * 1e-6, load_s);
  std::printf("%zu threads, kernels %s; ", how.threads,
              how.kernels.empty() ? cpu::fastest().name : how.kernels.c_str());
  std::fflush(stdout);
  auto before = measure_peaks(how.threads);
  auto all = measure_all(**made, *model);
  auto best = better_of(before, measure_peaks(how.threads));
  std::vector<measure> loaded;
  if (how.with_load) {
    busy_process other;
    loaded = measure_all(**made, *model);
  }
  print(all, loaded, best);
  return 0;
}

} // namespace perigee::app
