#include "tests/apps/program.hpp"

namespace perigee::app {
namespace {

const std::string small_topology = R"([model]
path = "model.gguf"
[[node]]
prefill_group = [ {} ]
decode_instance = [ {} ]
)";

TEST_CASE("whoever asks for help is told what there is") {
  auto got = run("--help");
  CHECK(got.code == 0);
  for (const auto* word : {"serve", "init", "check", "calibrate", "--log-level",
                           "Exit codes", "PERIGEE_SLO_TTFT_MS"})
    CHECK(holds(got.said, word));
  for (const auto* command : {"serve", "init", "check", "calibrate", "bench"}) {
    auto help = run(std::string{command} + " --help");
    CHECK(help.code == 0);
    CHECK(holds(help.said, "Usage: perigee " + std::string{command}));
  }
  CHECK(run("--version").said == "perigee " PERIGEE_VERSION "\n");
}

TEST_CASE("a command line that is wrong is refused, and nothing begins") {
  for (const auto* line : {"", "sreve", "serve", "check", "--log-level loud check x",
                           "check x --set", "init --no-such-option"}) {
    INFO(line);
    auto got = run(line);
    CHECK(got.code == 2);
    CHECK(holds(got.said, "--help"));
  }
}

TEST_CASE("a command that is not there is named, with those that are") {
  CHECK(holds(run("sreve").said,
              "no command 'sreve'; there are: serve, node, drain, certs, init"));
}

TEST_CASE("what init writes, check finds right") {
  scratch here;
  auto first = run("init", here.path());
  CHECK(first.code == 0);
  CHECK(holds(first.said, "perigee serve topology.toml"));
  auto checked = run("check topology.toml", here.path());
  CHECK(checked.code == 0);
  CHECK(holds(checked.said, "\nname = \"n0\"\n"));
  auto again = run("init", here.path());
  CHECK(again.code == 2);
  CHECK(holds(again.said, "--force"));
  CHECK(run("init --force", here.path()).code == 0);
  CHECK(run("init no/such/folder.toml", here.path()).code == 1);
}

TEST_CASE("init names the model as seen from the file") {
  scratch here;
  std::filesystem::create_directory(here.path("conf"));
  CHECK(run("init conf/t.toml --model models/m.gguf", here.path()).code == 0);
  auto checked = run("check conf/t.toml", here.path());
  CHECK(holds(checked.said, "path = \"models/m.gguf\"")); // from where we are
}

TEST_CASE("check prints what a topology leaves out, which is a topology again") {
  scratch here;
  here.write("t.toml", small_topology);
  auto got = run("check t.toml", here.path());
  CHECK(got.code == 0);
  CHECK(holds(got.said, "placement = \"kvcache_centric\""));
  CHECK(holds(got.said, "# The model can't be served yet: model.gguf"));
  here.write("full.toml", got.said);
  CHECK(run("check full.toml", here.path()).said == got.said);
}

TEST_CASE("check says what a model makes of the topology's memory") {
  auto got = run("check " PERIGEE_SOURCE_DIR "/tests/engine/golden/tiny/q4_0.gguf");
  CHECK(got.code == 0);
  CHECK(holds(got.said, "# The model: tiny llama Q4_0, architecture llama, 2 layers"));
  CHECK(holds(got.said, "#   a prefill arena of n0: \"256MiB\" holds "));
}

TEST_CASE("a model that is broken fails the check") {
  scratch here;
  here.write("broken.gguf", "GGUF, and nothing that would be one");
  auto got = run("check broken.gguf", here.path());
  CHECK(got.code == 1);
  CHECK(holds(got.said, "# The model can't be served: broken.gguf"));
}

TEST_CASE("a wrong topology is refused with file, line, key and the nearest name") {
  scratch here;
  here.write("t.toml", small_topology + "[policy]\nplacment = \"random\"\n");
  for (const auto* command : {"check", "serve", "calibrate"}) {
    auto got = run(std::string{command} + " t.toml", here.path());
    CHECK(got.code == 2);
    CHECK(holds(got.said, "t.toml:7: policy.placment is not a setting; did you mean "
                          "\"placement\"?"));
  }
}

TEST_CASE("the environment and the command line overrule a file") {
  scratch here;
  here.write("t.toml", small_topology);
  auto got = run("check t.toml --set slo.tbt_ms=7", here.path(),
                 "PERIGEE_SLO_TTFT_MS=5 PERIGEE_SLO_TBT_MS=6");
  CHECK(got.code == 0);
  CHECK(holds(got.said, "ttft_ms = 5\n"));
  CHECK(holds(got.said, "tbt_ms = 7\n"));
  auto wrong = run("check t.toml", here.path(), "PERIGEE_SLO_TFFT_MS=5");
  CHECK(wrong.code == 2);
  CHECK(holds(wrong.said, "did you mean \"PERIGEE_SLO_TTFT_MS\"?"));
}

TEST_CASE("a file that is not there, or is no model, is named") {
  scratch here;
  here.write("t.toml", small_topology);
  auto missing = run("check nowhere.toml", here.path());
  CHECK(missing.code == 2);
  CHECK(holds(missing.said, "nowhere.toml: cannot be read (No such file"));
  auto no_model = run("serve t.toml", here.path());
  CHECK(no_model.code == 1);
  CHECK(holds(no_model.said, "model.gguf"));
  here.write("model.gguf", "GGUF, but not really");
  auto damaged = run("serve model.gguf", here.path());
  CHECK(damaged.code == 1);
  CHECK(holds(damaged.said, "model.gguf"));
  auto folder = run("check .", here.path());
  CHECK(folder.code == 2);
}

} // namespace
} // namespace perigee::app
