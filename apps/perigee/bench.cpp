#include "apps/perigee/bench_engine.hpp"
#include "apps/perigee/bench_replay.hpp"
#include "apps/perigee/bench_serve.hpp"
#include "apps/perigee/bench_transfer.hpp"
#include "apps/perigee/command.hpp"

#include <algorithm>
#include <memory>
#include <thread>

namespace perigee::app {

void add_bench(CLI::App& to, session& all) {
  auto* bench = to.add_subcommand(
    "bench",
    "Measure an engine, a replay or transports on this machine, or a cluster that "
    "serves");
  bench->require_subcommand(1);
  add_bench_serve(*bench, all);
  add_bench_replay(*bench, all);
  add_bench_transfer(*bench, all);
  auto how = std::make_shared<engine_bench>();
  how->model = "models/SmolLM2-135M-Instruct.Q4_1.gguf";
  how->threads = std::max(1u, std::thread::hardware_concurrency());
  auto kv = std::make_shared<std::string>("f16");
  auto* engine = bench->add_subcommand(
    "engine", "Prefill and decode rates of the CPU engine, each beside its floor");
  engine->add_option("MODEL.gguf", how->model, "The model")->capture_default_str();
  engine->add_option("--threads", how->threads, "Threads that compute")
    ->check(CLI::Range(1, 256))
    ->capture_default_str();
  engine
    ->add_option("--kernels", how->kernels,
                 "Vectors to compute with; the best there "
                 "are, if not given")
    ->check(CLI::IsMember({"portable", "avx2", "avx512"}));
  engine->add_option("--kv", *kv, "How KV is kept")
    ->check(CLI::IsMember({"f16", "f32"}))
    ->capture_default_str();
  engine->add_flag("--with-load", how->with_load,
                   "Measure again while another process keeps a processor busy");
  engine->callback([how, kv, &all] {
    how->kv_f32 = *kv == "f32";
    all.left = bench_engine(*how) == 0 ? exit_code::good : exit_code::failed;
  });
}

} // namespace perigee::app
