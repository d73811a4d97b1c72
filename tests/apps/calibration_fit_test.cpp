#include "apps/perigee/calibration_fit.hpp"

#include <catch2/catch.hpp>

namespace perigee::app {
namespace {

using kind = measured_kind;

calibration_row prefill(std::uint64_t tokens, std::uint64_t prefix, double seconds) {
  return {kind::prefill, tokens, prefix, 0, 0, 0, seconds};
}

calibration_row decode(std::uint64_t sequences, std::uint64_t kv_tokens,
                       double seconds) {
  return {kind::decode, 0, 0, sequences, kv_tokens, 0, seconds};
}

calibration_row transfer(std::uint64_t bytes, double seconds) {
  return {kind::transfer, 0, 0, 0, 0, bytes, seconds};
}

/// Mooncake, FAST'25, figure 14: LLaMA3-70B on eight A800, 128 tokens decoded alone,
/// 320 KiB of KV for each token of the prompt.
std::vector<calibration_row> figure_14() {
  struct bar {
    std::uint64_t thousands;
    double cold, with_prefix, transfer, decode;
  };
  std::vector<calibration_row> rows;
  for (const auto& one :
       {bar{8, 1.002, .135, .030, 3.395}, bar{16, 2.055, .226, .060, 3.433},
        bar{32, 4.478, .407, .125, 3.521}, bar{64, 10.587, .881, .249, 3.659},
        bar{128, 27.514, 2.329, .494, 3.940}}) {
    auto tokens = one.thousands * 1024;
    rows.push_back(prefill(tokens, 0, one.cold));
    rows.push_back(prefill(tokens, tokens * 95 / 100, one.with_prefix));
    rows.push_back(transfer(tokens * 320 * 1024, one.transfer));
    rows.push_back(decode(1, tokens + 64, one.decode / 128));
  }
  return rows;
}

TEST_CASE("a model that made the measurements is found again") {
  cluster::cost_settings made;
  made.prefill_fixed_ms = 3.5;
  made.prefill_token_us = 120;
  made.prefill_pair_ns = 0.75;
  made.decode_fixed_ms = 9;
  made.decode_sequence_us = 400;
  made.decode_kv_token_ns = 35;
  made.transfer_fixed_us = 20;
  made.transfer_gib_per_s = 11;
  std::vector<calibration_row> rows;
  for (std::uint64_t tokens : {16, 256, 4096, 65536})
    for (std::uint64_t prefix : {std::uint64_t{0}, tokens / 2})
      rows.push_back(prefill(tokens, prefix, 1));
  for (std::uint64_t sequences : {1, 4, 16})
    for (std::uint64_t each : {100, 5000})
      rows.push_back(decode(sequences, sequences * each, 1));
  for (std::uint64_t bytes : {1'000, 1'000'000, 1'000'000'000})
    rows.push_back(transfer(bytes, 1));
  for (auto& one : rows)
    one.seconds = predict(made, one);
  auto found = fit_costs(rows);
  REQUIRE(found);
  CHECK(*found == made);
}

TEST_CASE("predictions are what the conductor predicts") {
  cluster::cost_settings made;
  made.prefill_fixed_ms = 1;
  made.prefill_token_us = 1;
  made.prefill_pair_ns = 1;
  made.decode_kv_token_ns = 10;
  made.transfer_gib_per_s = 1;
  CHECK(predict(made, prefill(3000, 1000, 1)) == Approx(0.001 + 0.002 + 0.008));
  CHECK(predict(made, decode(7, 100, 1)) == Approx(1e-6));
  CHECK(predict(made, transfer(1 << 29, 1)) == Approx(0.5));
}

TEST_CASE("the Mooncake paper's bars give the cost model known from them") {
  auto rows = figure_14();
  auto found = fit_costs(rows);
  REQUIRE(found);
  CHECK(found->prefill_token_us == Approx(104.1).epsilon(0.1));
  CHECK(found->prefill_pair_ns == Approx(0.923).epsilon(0.15));
  CHECK(found->decode_fixed_ms + found->decode_sequence_us / 1e3
        == Approx(26.3).epsilon(0.02));
  CHECK(found->decode_kv_token_ns == Approx(35).epsilon(0.05));
  CHECK(found->transfer_gib_per_s == Approx(81).epsilon(0.05));
  for (const auto& one : rows)
    CHECK(predict(*found, one) == Approx(one.seconds).epsilon(0.2));
}

TEST_CASE("without prefills or decode steps there is no model; transfers may lack") {
  auto only_prefill = fit_costs(std::vector{prefill(8, 0, 1)});
  REQUIRE_FALSE(only_prefill);
  CHECK(only_prefill.error().find("no row of kind decode") != std::string::npos);
  auto only_decode = fit_costs(std::vector{decode(1, 1, 1)});
  REQUIRE_FALSE(only_decode);
  CHECK(only_decode.error().find("no row of kind prefill") != std::string::npos);
  auto both = fit_costs(std::vector{prefill(8, 0, 1), decode(1, 1, 1)});
  REQUIRE(both);
  CHECK(both->transfer_gib_per_s == 0);
}

TEST_CASE("the spread of rows about their costs is told of hardware") {
  cluster::cost_settings model;
  model.prefill_fixed_ms = 100;
  model.decode_fixed_ms = 10;
  auto made = with_spread(
    model, std::vector{prefill(8, 0, 0.08), prefill(8, 0, 0.12), decode(1, 9, 0.01)});
  CHECK(made.prefill_fixed_ms == 100);
  CHECK(made.prefill_spread_percent == Approx(20));
  CHECK(made.decode_spread_percent == 0);
}

TEST_CASE("residuals say how far off each row is, and each kind at most") {
  cluster::cost_settings model;
  model.prefill_fixed_ms = 100;
  model.decode_fixed_ms = 10;
  auto text = residual_table(
    model, std::vector{prefill(8, 0, 0.08), prefill(8, 0, 0.2), decode(1, 9, 0.01)});
  CHECK(text.find("+25.0") != std::string::npos);
  CHECK(text.find("-50.0") != std::string::npos);
  CHECK(text.find("prefill: 2 rows, error 37.5 % on average, 50.0 % at most")
        != std::string::npos);
  CHECK(text.find("decode: 1 rows, error 0.0 %") != std::string::npos);
  CHECK(text.find("transfer") == std::string::npos);
}

} // namespace
} // namespace perigee::app
