#include "actors/cache_shard/eviction_policy.hpp"
#include "actors/cluster/settings.hpp"
#include "actors/conductor/placement_policy.hpp"
#include "actors/rejector/admission_policy.hpp"
#include "engine/chat/chat_template.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <span>

// The settings' table offers names; those who have what is named must have all of them.

namespace perigee::cluster {
namespace {

using names = std::set<std::string>;

template <class Section>
names offered(const std::string& key) {
  for (const auto& one : settings_of<Section>())
    if (one.key == key) {
      const auto& choice = std::get<one_of>(one.allowed).names;
      return {choice.begin(), choice.end()};
    }
  FAIL("no such setting: " << key);
  return {};
}

names set_of(std::span<const std::string_view> all) {
  return {all.begin(), all.end()};
}

TEST_CASE("every policy can be chosen, and every choice is a policy") {
  CHECK(offered<policy_settings>("placement") == set_of(conductor::placement_names()));
  CHECK(offered<policy_settings>("admission") == set_of(rejector::admission_names()));
  CHECK(offered<policy_settings>("eviction") == set_of(shard::eviction_policy_names()));
}

TEST_CASE("every form of chats can be chosen, or the file's own") {
  auto forms = set_of(engine::chat_template_names());
  forms.insert("auto");
  CHECK(offered<model_settings>("chat_template") == forms);
}

} // namespace
} // namespace perigee::cluster
