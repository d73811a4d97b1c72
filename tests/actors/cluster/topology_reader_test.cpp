#include "actors/cluster/topology_reader.hpp"

#include <catch2/catch.hpp>

namespace perigee::cluster {
namespace {

const std::string smallest = R"([model]
path = "m.gguf"

[[node]]
name = "n0"
prefill_group = [ {} ]
decode_instance = [ {} ]
)";

result<topology, complaints> read(const std::string& text,
                                  std::vector<override_> overrides = {}) {
  return read_topology(text, {"conf/t.toml", std::move(overrides)});
}

/// What is said of `text`, which must be wrong; each error on a line.
std::string said_of(const std::string& text, std::vector<override_> overrides = {}) {
  auto got = read(text, std::move(overrides));
  return got ? "nothing is wrong" : to_string(got.error());
}

TEST_CASE("every setting but the model has its default") {
  auto got = read(smallest);
  REQUIRE(got);
  auto expected = laptop("conf/m.gguf");
  expected.cluster.name = cluster_settings{}.name;
  CHECK(*got == expected);
}

TEST_CASE("a path begins at the file that names it, but for one from outside") {
  CHECK(read(smallest)->model.path == "conf/m.gguf");
  auto up = R"(model.path = "../models/m.gguf")"
            "\n[[node]]\nprefill_group = [{}]\ndecode_instance = [{}]\n";
  CHECK(read(up)->model.path == "models/m.gguf");
  CHECK(read(smallest, {{"model.path", "x.gguf", "environment"}})->model.path
        == "x.gguf");
}

TEST_CASE("a wrong value is named with file, line, key and what was expected") {
  CHECK(said_of(smallest + "[slo]\nttft_ms = \"fast\"\n")
        == "conf/t.toml:9: slo.ttft_ms is \"fast\": expected a whole number of "
           "milliseconds from 1 to 86400000\n");
  CHECK(said_of(smallest + "[slo]\nttft_ms = -1\n").starts_with("conf/t.toml:9: "));
  CHECK(said_of(smallest + "[slo]\nttft_ms = 1979-05-27\n")
          .find("a date or a time: expected a whole number")
        != std::string::npos);
  CHECK(said_of(smallest + "[slo]\nttft_ms = [1, 2]\n").find("is a list: expected")
        != std::string::npos);
  CHECK(said_of("slo = 3\n" + smallest)
        == "conf/t.toml:1: slo is 3: expected a table\n");
}

TEST_CASE("a misspelt choice or key meets its nearest valid name") {
  CHECK(said_of(smallest + "[policy]\nplacement = \"kvcache_centrc\"\n")
          .find("did you mean \"kvcache_centric\"?")
        != std::string::npos);
  CHECK(said_of(smallest + "[policy]\nplacment = \"random\"\n")
        == "conf/t.toml:9: policy.placment is not a setting; did you mean "
           "\"placement\"?\n");
  CHECK(said_of(smallest + "[polcy]\n")
        == "conf/t.toml:8: polcy is not a setting; did you mean \"policy\"?\n");
  CHECK(said_of(smallest + "[[nodes]]\n").find("did you mean \"node\"?")
        != std::string::npos);
  CHECK(said_of(smallest + "cache_shrd = {}\n")
        == "conf/t.toml:8: node[0].cache_shrd is not a setting; did you mean "
           "\"cache_shard\"?\n");
  CHECK(said_of(smallest + "cache_shard = { dram = \"lots\" }\n")
          .starts_with("conf/t.toml:8: node[0].cache_shard.dram is \"lots\": "));
  CHECK(said_of(smallest + "[policy]\nzzzzz = 1\n")
        == "conf/t.toml:9: policy.zzzzz is not a setting\n");
}

TEST_CASE("all errors of a file are told at once, by line, up to a limit") {
  auto said = said_of("[slo]\ntbt_ms = 0\n[cluster]\nnam = 1\nlisten = \"nowhere\"\n");
  CHECK(said.find("t.toml:2: slo.tbt_ms") < said.find("t.toml:4: cluster.nam"));
  CHECK(said.find("t.toml:4: cluster.nam") < said.find("t.toml:5: cluster.listen"));
  std::string many = "[slo]\n";
  for (int i = 0; i < 100; ++i)
    many += "wrong_" + std::to_string(i) + " = 1\n";
  CHECK(read(many).error().size() == 20);
}

TEST_CASE("what is no TOML is refused with its line") {
  auto got = read("[cluster]\nname = \n");
  REQUIRE_FALSE(got);
  CHECK(got.error().front().what == bad_input::code::syntax);
  CHECK(got.error().front().line == 2);
  CHECK(said_of("x = \"\xff\"").find("expected TOML") != std::string::npos);
  CHECK(said_of(std::string(topology_bytes_max + 1, '\n')).find("at most 1 MiB")
        != std::string::npos);
  CHECK(said_of("x = " + std::string(100'000, '[')).find("expected TOML")
        != std::string::npos);
}

TEST_CASE("a count makes numbered nodes") {
  auto got = read(R"(
model.path = "m.gguf"
[[node]]
name = "p"
count = 3
prefill_group = [ {}, { threads = 2 } ]
[[node]]
name = "d"
decode_instance = [ { batch_max = 8 } ]
)");
  REQUIRE(got);
  std::vector<std::string> names;
  for (const auto& one : got->nodes)
    names.push_back(one.name);
  CHECK(names == std::vector<std::string>{"p0", "p1", "p2", "d"});
  CHECK(got->nodes[2].prefill_groups[1].threads == 2);
  CHECK(got->nodes[3].decode_instances[0].batch_max == 8);
  CHECK(got->cluster.control == "p0");
  CHECK(said_of(smallest + "count = 5000\n").find("from 1 to 4096")
        != std::string::npos);
  CHECK(
    said_of(smallest + "count = 2\naddress = \"127.0.0.1:1\"\n").find("no count where")
    != std::string::npos);
}

TEST_CASE("a node where something computes has a shard") {
  auto got = read(smallest + "[[node]]\nname = \"idle\"\n");
  REQUIRE(got);
  CHECK(got->nodes[0].cache_shard);
  CHECK_FALSE(got->nodes[1].cache_shard);
}

TEST_CASE("what does not fit together is refused where it stands") {
  CHECK(said_of("[slo]\n").find("model.path is not set: expected the path of a GGUF")
        != std::string::npos);
  CHECK(said_of("model.path = \"m\"\n").find("at least one prefill_group")
        != std::string::npos);
  CHECK(said_of(smallest + "[cluster]\ncontrol = \"n1\"\n")
        == "conf/t.toml:9: cluster.control is \"n1\": expected the name of a node; did "
           "you mean \"n0\"?\n");
  CHECK(said_of(smallest + "[[node]]\nname = \"n0\"\n")
        == "conf/t.toml:9: node.n0.name is \"n0\": expected a name that no other node "
           "has\n");
  CHECK(
    said_of(smallest
            + "[[node]]\nname = \"n1\"\nprefill_group = [\n{},\n{engine = \"cuda\"}]")
      .starts_with("conf/t.toml:12: node.n1.prefill_group[1].engine is \"cuda\": "
                   "expected one of \"cpu\", \"modelled\""));
}

TEST_CASE("a modelled engine needs hardware that is described") {
  const std::string cluster = R"(
model.path = "m.gguf"
[[node]]
prefill_group = [ { engine = "modelled", hardware = "a800" } ]
decode_instance = [ { engine = "modelled", hardware = "a80" } ]
[hardware.a800]
prefill_fixed_ms = 98
prefill_token_us = 104.1
)";
  CHECK(
    said_of(cluster)
    == "conf/t.toml:5: node.n0.decode_instance[0].hardware is \"a80\": expected the "
       "NAME of a [hardware.NAME]: \"a800\"; did you mean \"a800\"?\n");
  auto right = cluster;
  right.replace(right.find("a80\" }"), 3, "a800");
  REQUIRE(read(right));
  CHECK(read(right)->hardware.at("a800").prefill_token_us == 104.1);
  auto mixed = right;
  mixed.replace(mixed.find(R"(engine = "modelled", hardware = "a800")"), 38, "");
  CHECK(said_of(mixed).find("engines that are all modelled, or none")
        != std::string::npos);
}

TEST_CASE("a cluster is coupled, all of it, or not at all") {
  const std::string coupled = R"(
model.path = "m.gguf"
policy.placement = "cache_aware"
[[node]]
name = "v"
count = 2
coupled_instance = [ { scheduler = "chunked", token_budget = 512 } ]
)";
  auto got = read(coupled);
  REQUIRE(got);
  CHECK(is_coupled(*got));
  CHECK(got->nodes[1].coupled_instances[0].token_budget == 512);
  CHECK_FALSE(got->nodes[0].cache_shard);

  auto beside = [&](const std::string& more) { return said_of(coupled + more); };
  CHECK(beside("prefill_group = [ {} ]\n")
          .find("t.toml:8: node.v0.prefill_group: expected none in a cluster that has "
                "a coupled_instance")
        != std::string::npos);
  CHECK(beside("cache_shard = {}\n").find("node.v0.cache_shard: expected none")
        != std::string::npos);
  CHECK(beside("[[node]]\nname = \"d\"\ndecode_instance = [ {} ]\n")
          .find("node.d.decode_instance: expected none")
        != std::string::npos);
  CHECK(said_of("model.path = \"m.gguf\"\n[[node]]\ncoupled_instance = [ {}, {} ]\n")
          .find("node.n0.coupled_instance is 2 of them: expected one at most")
        != std::string::npos);
  CHECK(said_of("model.path = \"m.gguf\"\n[[node]]\ncoupled_instance = [ {} ]\n")
          .find("policy.placement is \"kvcache_centric\": expected one of \"random\"")
        != std::string::npos);
}

TEST_CASE("the shape of a model that is modelled stands in for its file") {
  const std::string shaped = R"(
[model.shape]
layers = 80
[hardware.big]
[[node]]
name = "v"
prefill_group = [ { engine = "modelled", hardware = "big" } ]
decode_instance = [ { engine = "modelled", hardware = "big" } ]
)";
  auto got = read(shaped);
  REQUIRE(got);
  CHECK(got->model_shape->layers == 80);
  CHECK(got->model_shape->kv_heads == 8);
  CHECK(got->model.path.empty());
  CHECK(said_of("[model.shape]\nlayers = 0\n").find("model.shape.layers is 0: expected")
        != std::string::npos);
  CHECK(said_of("[model.shape]\nlayer = 1\n").find("did you mean \"layers\"?")
        != std::string::npos);
  CHECK(said_of(smallest + "[model.shape]\n").find("model.shape: expected none, unless")
        != std::string::npos);
}

const std::string modelled_pair = R"(
model.path = "m.gguf"
[hardware.box]
load_gib_per_s = 9
[fabric]
core_gib_per_s = 100
[[node]]
name = "n"
count = 2
prefill_group = [ { engine = "modelled", hardware = "box" } ]
decode_instance = [ { engine = "modelled", hardware = "box" } ]
)";

TEST_CASE("links are a node's, or from one node to another") {
  auto got = read(modelled_pair + "[[link]]\nnode = \"n1\"\ngib_per_s = 5\n"
                  + "[[link]]\nfrom = \"n0\"\nto = \"n1\"\nlatency_us = 7\n");
  REQUIRE(got);
  CHECK(got->hardware.at("box").load_gib_per_s == 9);
  CHECK(got->fabric.core_gib_per_s == 100);
  REQUIRE(got->links.size() == 2);
  CHECK(got->links[0] == link_settings{"n1", "", "", "", 5, 0});
  CHECK(got->links[1] == link_settings{"", "n0", "n1", "", 0, 7});
}

TEST_CASE("a link of who is not there, or of nobody, is refused where it stands") {
  CHECK(
    said_of(modelled_pair + "[[link]]\nnode = \"m1\"\n")
    == "conf/t.toml:13: link[0].node is \"m1\": expected the name of a node; did you "
       "mean \"n1\"?\n");
  CHECK(said_of(modelled_pair + "[[link]]\nfrom = \"n0\"\nto = \"n\"\n")
        == "conf/t.toml:14: link[0].to is \"n\": expected the name of a node; did you "
           "mean \"n0\"?\n");
  for (const auto* wrong : {"from = \"n0\"", "node = \"n0\"\nto = \"n1\"",
                            "from = \"n0\"\nto = \"n0\"", "gib_per_s = 1"})
    CHECK(said_of(modelled_pair + "[[link]]\n" + wrong + '\n')
            .find("expected either a node, or from and to")
          != std::string::npos);
  CHECK(said_of(modelled_pair + "[[link]]\nnode = \"n0\"\n[[link]]\nnode = \"n0\"\n")
          .find("one link for each node or way")
        != std::string::npos);
}

TEST_CASE("a fabric among engines that compute is refused") {
  CHECK(said_of(smallest + "[fabric]\ncore_gib_per_s = 1\n")
        == "conf/t.toml:8: fabric is a table: expected none, unless the engines are "
           "\"modelled\"\n");
}

TEST_CASE("of a link between real nodes its transport and rate can be laid down") {
  const auto pair = smallest + "[[node]]\nname = \"n1\"\ndecode_instance = [ {} ]\n";
  auto link
    = [&](const std::string& what) { return pair + "[[link]]\n" + what + '\n'; };
  auto got
    = read(link("from = \"n0\"\nto = \"n1\"\ntransport = \"tcp\"\ngib_per_s = 2"));
  REQUIRE(got);
  CHECK(got->links[0] == link_settings{"", "n0", "n1", "tcp", 2, 0});
  auto refused = [&](const std::string& what, const std::string& why) {
    CHECK(said_of(link(what)).find(why) != std::string::npos);
  };
  refused("node = \"n1\"\ntransport = \"ib\"", "expected one of \"\", \"shm\"");
  refused("node = \"n1\"\nlatency_us = 3", "only what is modelled has one");
  refused("node = \"n1\"\ngib_per_s = 3", "expected 0, or from and to");
  refused("from = \"n0\"\nto = \"n1\"", "else nothing is laid down");
  refused("from = \"n0\"\nto = \"n1\"\ntransport = \"tcp\"\n[[link]]\n"
          "from = \"n1\"\nto = \"n0\"\ntransport = \"shm\"",
          "one transport for both ways");
  refused("node = \"n1\"\ntransport = \"tcp\"\n[[link]]\n"
          "from = \"n1\"\nto = \"n0\"\ntransport = \"shm\"",
          "one transport for both ways");
  CHECK(said_of(modelled_pair + "[[link]]\nnode = \"n0\"\ntransport = \"tcp\"\n")
          .find("KV between modelled engines goes over [fabric]")
        != std::string::npos);
}

TEST_CASE("the environment overrules the file, and the command line both") {
  auto with = [](std::vector<override_> all) {
    return read(smallest + "[slo]\nttft_ms = 1\n", std::move(all))->slo.ttft.count();
  };
  override_ environment{"slo.ttft_ms", "2", "environment"};
  override_ line{"slo.ttft_ms", "3", "command line"};
  CHECK(with({}) == 1);
  CHECK(with({environment}) == 2);
  CHECK(with({environment, line}) == 3);
  CHECK(
    said_of(smallest, {{"slo.ttft_ms", "soon", "environment"}})
      .starts_with("environment: slo.ttft_ms is \"soon\": expected a whole number"));
  CHECK(said_of(smallest, {{"slo.tfft_ms", "1", "command line"}})
        == "command line: slo.tfft_ms is not a setting; did you mean \"ttft_ms\"?\n");
  CHECK(said_of(smallest, {{"node.name", "x", "command line"}})
        == "command line: node.name is not a setting\n");
  CHECK(said_of(smallest, {{"cluster.control", "n7", "command line"}})
          .starts_with("command line: cluster.control is \"n7\": expected the name"));
}

TEST_CASE("a laptop needs no file, and may be adjusted") {
  auto got = adjust(laptop("m.gguf"), {"m.gguf", {{"http.api_keys", "a,b", "x"}}});
  REQUIRE(got);
  CHECK(got->http.api_keys == std::vector<std::string>{"a", "b"});
  CHECK(got->model.path == "m.gguf");
}

TEST_CASE("the nearest name is near") {
  const std::vector<std::string> names{"listen", "name", "control"};
  CHECK(nearest("lisen", names) == "listen");
  CHECK(nearest("cnotrol", names) == "control");
  CHECK(nearest("contr", names) == "control");
  CHECK(nearest("zebra", names).empty());
  CHECK(nearest("", names).empty());
  CHECK(nearest(std::string(100'000, 'n'), names).empty());
}

} // namespace
} // namespace perigee::cluster
