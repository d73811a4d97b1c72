// Run by hand: multiply-adds a second of one core, for every type and set.
//
//   kernels_bench [ROWS COLUMNS]      1536 576
//
// Weights are read again and again, so they are in the cache when they fit there. What
// counts is the thread's own time, the best of several runs: other processes disturb
// less.

#include "engine/cpu/kernels/kernels.hpp"
#include "engine/cpu/kernels/operand.hpp"
#include "engine/cpu/kernels/packed_matrix.hpp"
#include "tests/engine/cpu/kernels/same_bits.hpp"
#include "tests/engine/gguf/random_weights.hpp"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace perigee::engine::cpu {
namespace {

double seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class Body>
double best_of(std::size_t runs, const Body& body) {
  double best = 1e9;
  for (std::size_t i = 0; i < runs; ++i) {
    auto begin = seconds();
    body();
    best = std::min(best, seconds() - begin);
  }
  return best;
}

double product_seconds(const kernel_set& set, const packed_matrix& weights,
                       std::size_t tokens) {
  std::mt19937 random(1);
  auto columns = weights.columns();
  auto x = random_reals(tokens * columns, 1.0F, random);
  operand room(tokens, columns);
  auto view = room.view(form_of(weights.type()), tokens, columns);
  set.prepare({x.data(), tokens, columns, columns}, view, 0, token_tiles(tokens));
  std::vector<float> y(tokens * weights.rows());
  return best_of(tokens > 100 ? 4 : 40, [&] {
    set.product(weights.view(), view, 0, weights.tiles(), {y.data(), weights.rows()});
  });
}

void measure(gguf::tensor_type type, std::size_t rows, std::size_t columns) {
  auto unit = gguf::shape_of(type).elements;
  columns = (columns + unit - 1) / unit * unit;
  std::mt19937 random(1);
  auto source = gguf::random_weights(type, rows * columns, 1.0F, random);
  packed_matrix weights(type, rows, columns);
  auto packing = best_of(1, [&] { weights.put(0, rows, source.data()); });
  std::printf("%-5s %4zu x %4zu, packed at %4.1f GB/s", gguf::name_of(type), rows,
              columns, static_cast<double>(source.size()) / packing * 1e-9);
  for (const auto* set : available()) {
    std::printf("  %s", set->name);
    for (std::size_t tokens : {1, 16, 512}) {
      auto work = static_cast<double>(rows * columns * tokens);
      std::printf(" %6.1f", work / product_seconds(*set, weights, tokens) * 1e-9);
    }
  }
  std::printf("\n");
}

} // namespace
} // namespace perigee::engine::cpu

int main(int count, char** arguments) {
  using namespace perigee::engine;
  auto number = [&](int i, long fallback) {
    return static_cast<std::size_t>(i < count ? std::atol(arguments[i]) : fallback);
  };
  std::printf("billions of multiply-adds a second for 1, 16 and 512 tokens\n");
  for (auto type : gguf::every_type)
    cpu::measure(type, number(1, 1536), number(2, 576));
}
