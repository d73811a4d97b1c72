#include "engine/cpu/rope_table.hpp"

#include "engine/cpu/kernels/elementary.hpp"

namespace perigee::engine::cpu {

rope_table::rope_table(const rope_shape& how, std::size_t dimensions,
                       std::span<const float> factors)
  : frequencies_(dimensions / 2) {
  for (std::size_t i = 0; i < frequencies_.size(); ++i) {
    auto exponent = -static_cast<double>(2 * i) / static_cast<double>(dimensions);
    frequencies_[i] = pow_of(how.base, exponent) / how.divisor;
    if (!factors.empty())
      frequencies_[i] /= static_cast<double>(factors[i]);
  }
}

void rope_table::fill(std::uint32_t position, float* cosine, float* sine) const {
  for (std::size_t i = 0; i < frequencies_.size(); ++i) {
    auto angle = frequencies_[i] * position;
    cosine[i] = static_cast<float>(cos_of(angle));
    sine[i] = static_cast<float>(sin_of(angle));
  }
}

} // namespace perigee::engine::cpu
