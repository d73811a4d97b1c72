#include "engine/sampling/sampling_params.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <limits>

namespace perigee::engine {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

struct wrong {
  std::string parameter;
  std::function<void(sampling_params&)> make;
};

std::vector<wrong> every_wrong() {
  std::vector<wrong> all;
  auto number = [&](const char* name, double sampling_params::*member,
                    std::initializer_list<double> values) {
    for (double value : values)
      all.push_back({name, [=](sampling_params& how) { how.*member = value; }});
  };
  number("temperature", &sampling_params::temperature,
         {-0.1, 101, no_number, infinite});
  number("top_p", &sampling_params::top_p, {0, -1, 1.001, no_number});
  number("min_p", &sampling_params::min_p, {-0.01, 1.001, no_number});
  number("repetition_penalty", &sampling_params::repetition_penalty,
         {0, -1, 1e9, no_number});
  number("frequency_penalty", &sampling_params::frequency_penalty,
         {-2.1, 2.1, no_number, -infinite});
  number("presence_penalty", &sampling_params::presence_penalty,
         {-2.1, 2.1, no_number});
  all.push_back({"logprobs", [](auto& how) { how.logprobs = 21; }});
  all.push_back({"logprobs", [](auto& how) { how.logprobs = -2; }});
  all.push_back({"logit_bias", [](auto& how) { how.logit_bias = {{100, 1.0}}; }});
  all.push_back({"logit_bias", [](auto& how) { how.logit_bias = {{1, 101.0}}; }});
  all.push_back({"logit_bias", [](auto& how) { how.logit_bias = {{1, no_number}}; }});
  all.push_back({"logit_bias", [](auto& how) {
                   how.logit_bias.assign(logit_bias_max + 1, {1, 0.0});
                 }});
  all.push_back({"stop_token_ids", [](auto& how) { how.stop_token_ids = {100}; }});
  all.push_back({"stop_token_ids", [](auto& how) {
                   how.stop_token_ids.assign(stop_token_ids_max + 1, 1);
                 }});
  return all;
}

TEST_CASE("parameters that nobody set are right") {
  CHECK_FALSE(find_param_fault({}, 100));
}

TEST_CASE("the ends of every range are right") {
  sampling_params how;
  how.temperature = 0;
  how.top_p = 1;
  how.min_p = 1;
  how.frequency_penalty = -2;
  how.presence_penalty = 2;
  how.logprobs = 20;
  how.logit_bias = {{99, -100.0}, {0, 100.0}};
  how.stop_token_ids = {99};
  CHECK_FALSE(find_param_fault(how, 100));
}

TEST_CASE("a parameter out of its range is named, with what was expected") {
  for (const auto& one : every_wrong()) {
    sampling_params how;
    one.make(how);
    auto fault = find_param_fault(how, 100);
    INFO(one.parameter);
    REQUIRE(fault);
    CHECK(fault->parameter == one.parameter);
    CHECK_FALSE(fault->expected.empty());
  }
}

} // namespace
} // namespace perigee::engine
