#include "engine/modelled/modelled_cost.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace perigee::engine {
namespace {

const std::vector<token_id> many_tokens(131'072, 7);

struct parts {
  sampler pick{sampling_params{}};
  sampled drawn;
  std::vector<slice> slices;

  parts& prefill(std::uint32_t first, std::size_t count) {
    slices.push_back(
      {std::span{many_tokens}.first(count), first, {}, nullptr, nullptr, {}});
    return *this;
  }

  parts& decode(std::uint32_t position) {
    slices.push_back(
      {std::span{many_tokens}.first(1), position, {}, &pick, &drawn, {}});
    return *this;
  }

  double seconds() const {
    return static_cast<double>(modelled_cost{}.of(slices).count()) * 1e-9;
  }
};

TEST_CASE("costs that spread are the same on average, and longer on the slow side") {
  CHECK(spread_factor(0, 7) == 1);
  for (double spread : {0.05, 0.3, 1.0}) {
    constexpr int draws = 20'000;
    double sum = 0, squares = 0, least = 1, most = 1;
    for (std::uint64_t which = 0; which < draws; ++which) {
      auto one = spread_factor(spread, which);
      sum += one;
      squares += (one - 1) * (one - 1);
      least = std::min(least, one);
      most = std::max(most, one);
    }
    CHECK(sum / draws == Approx(1).margin(0.02 * spread));
    CHECK(std::sqrt(squares / draws) == Approx(spread).epsilon(0.03));
    CHECK(least >= 0);
    CHECK(most - 1 > 1 - least);
  }
}

TEST_CASE("a batch that spreads takes the same time whenever it is asked for") {
  modelled_cost cost;
  cost.decode.spread = 0.3;
  auto at
    = [&](std::uint32_t position) { return cost.of(parts{}.decode(position).slices); };
  CHECK(at(100) == at(100));
  CHECK(at(100) != at(101));
}

TEST_CASE("a cold prefill takes what the paper's eight A800 took") {
  // FAST'25, figure 14: 16k tokens 2.055 s.
  CHECK(parts{}.prefill(0, 16'384).seconds() == Approx(2.055).epsilon(0.01));
}

TEST_CASE("a decode step takes what the paper's eight A800 took") {
  CHECK(parts{}.decode(8191).seconds() == Approx(0.0265).epsilon(0.01));
  CHECK(parts{}.decode(131'071).seconds() == Approx(0.0308).epsilon(0.01));
}

TEST_CASE("chunks take as long as the whole but for what each batch costs") {
  modelled_cost cost;
  double whole = parts{}.prefill(0, 8000).seconds();
  double chunks
    = parts{}.prefill(0, 3000).seconds() + parts{}.prefill(3000, 5000).seconds();
  CHECK(chunks - whole == Approx(cost.prefill.fixed_s));
}

TEST_CASE("a batch pays for its weights once, and for each sequence more") {
  modelled_cost cost;
  double one = parts{}.decode(999).seconds();
  double three = parts{}.decode(999).decode(999).decode(999).seconds();
  CHECK(three - one
        == Approx(2 * (cost.decode.sequence_s + 1000 * cost.decode.kv_token_s))
             .epsilon(1e-4));
  double prefill = parts{}.prefill(0, 512).seconds();
  double both = parts{}.prefill(0, 512).decode(999).seconds();
  CHECK(both - prefill == Approx(1000 * cost.decode.kv_token_s).epsilon(1e-4));
}

TEST_CASE("an empty batch takes no time, and absurd coefficients no endless one") {
  CHECK(modelled_cost{}.of({}).count() == 0);
  modelled_cost absurd;
  absurd.prefill.square_s = 1e300;
  CHECK(absurd.of(parts{}.prefill(0, 512).slices)
        == std::chrono::seconds{1'000'000'000});
}

} // namespace
} // namespace perigee::engine
