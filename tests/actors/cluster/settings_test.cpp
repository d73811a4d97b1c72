#include "actors/cluster/settings.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <set>

namespace perigee::cluster {
namespace {

template <class T>
std::optional<T> taken(const written& from, const bounds& allowed = {}) {
  T into{};
  return assign(from, allowed, into) ? std::optional{into} : std::nullopt;
}

written bare(std::string text) {
  return {std::move(text), true};
}

TEST_CASE("a size is a whole number with its unit, and nothing else") {
  CHECK(taken<byte_size>({"2GiB"}) == 2_GiB);
  CHECK(taken<byte_size>({"1536KiB"}) == byte_size{1'572'864});
  CHECK(taken<byte_size>({"7B"}) == byte_size{7});
  CHECK(taken<byte_size>(bare("3MiB")) == 3_MiB);
  for (const auto* wrong : {"", "2", "GiB", "2GB", "2 GiB", "-2GiB", "2.5GiB", "2gib",
                            "99999999999999999999B", "18446744073709551615TiB"}) {
    INFO(wrong);
    CHECK_FALSE(taken<byte_size>({wrong}));
  }
  CHECK_FALSE(taken<byte_size>({std::int64_t{2}})); // of what?
}

TEST_CASE("a bound belongs to what it bounds") {
  const bounds few = between{1, 64};
  CHECK(taken<count>({std::int64_t{1}}, few) == 1);
  CHECK(taken<count>({std::int64_t{64}}, few) == 64);
  CHECK_FALSE(taken<count>({std::int64_t{0}}, few));
  CHECK_FALSE(taken<count>({std::int64_t{65}}, few));
  CHECK_FALSE(taken<count>({std::numeric_limits<std::int64_t>::min()}, {}));
  CHECK(taken<milliseconds>({std::int64_t{64}}, few) == milliseconds{64});
  CHECK_FALSE(taken<milliseconds>({std::numeric_limits<std::int64_t>::max()}, {}));
  CHECK(taken<double>({0.5}, between{0.5, 1}) == 0.5);
  CHECK_FALSE(taken<double>({0.4999}, between{0.5, 1}));
}

TEST_CASE("a number may be written without a point, and must be finite") {
  CHECK(taken<double>({std::int64_t{4}}) == 4.0);
  CHECK_FALSE(taken<double>({std::numeric_limits<double>::infinity()}));
  CHECK_FALSE(taken<double>({std::numeric_limits<double>::quiet_NaN()}));
  CHECK_FALSE(taken<double>(bare("nan")));
  CHECK_FALSE(taken<count>({4.0}));
}

TEST_CASE("only what comes from outside a file is read from its text") {
  CHECK(taken<count>(bare("500")) == 500);
  CHECK_FALSE(taken<count>({"500"}));
  CHECK(taken<bool>(bare("true")) == true);
  CHECK_FALSE(taken<bool>({"true"}));
  CHECK_FALSE(taken<bool>(bare("yes")));
  CHECK(taken<double>(bare("2.5")) == 2.5);
  CHECK_FALSE(taken<count>(bare("500ms")));
  CHECK_FALSE(taken<count>(bare("")));
  using texts = std::vector<std::string>;
  CHECK(taken<texts>(bare("a,b")) == texts{"a", "b"});
  CHECK_FALSE(taken<texts>(bare("a,,b")));
  CHECK_FALSE(taken<texts>({"a,b"}));
}

TEST_CASE("what is written as TOML says what it was") {
  CHECK(as_toml(std::string{"a \"b\" \\ \n"}) == R"("a \"b\" \\ \u000A")");
  CHECK(as_toml(2_GiB) == "\"2GiB\"");
  CHECK(as_toml(byte_size{1025}) == "\"1025B\"");
  CHECK(as_toml(4.0) == "4.0");
  CHECK(as_toml(1e-9) == "1e-09");
  CHECK(as_toml(std::vector<std::string>{"a", "b"}) == R"(["a", "b"])");
}

TEST_CASE("what is shown of a value in an error is short, and cuts no letter") {
  for (std::size_t before = 70; before < 90; ++before) {
    auto text = shown({std::string(before, 'x') + "äöüäöüäöü"});
    CHECK(text.size() < 90);
    auto last = text.find("...");
    if (last != std::string::npos)
      CHECK((text[last - 1] == 'x' || (text[last - 1] & 0xc0) == 0x80));
  }
}

template <class Section>
void check_table() {
  std::set<std::string> keys;
  for (const auto& one : settings_of<Section>()) {
    INFO(one.key);
    CHECK(keys.insert(one.key).second);
    CHECK(one.sentence.size() > 10);
    CHECK((one.sentence.back() == '.' || one.sentence.back() == '*'));
    CHECK(!expected(one).empty());
  }
}

TEST_CASE("every setting has a name of its own and a sentence") {
  const topology any;
  for_each_plain_section(any, []<class Section>(const std::string&, const Section&) {
    check_table<Section>();
  });
  check_table<cost_settings>();
  check_table<hardware_settings>();
  check_table<link_settings>();
  check_table<node_settings>();
  check_table<cache_shard_settings>();
  check_table<ssd_settings>();
  check_table<prefill_group_settings>();
  check_table<decode_instance_settings>();
}

} // namespace
} // namespace perigee::cluster
