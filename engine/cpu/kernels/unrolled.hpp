/// \file
/// unrolled: loops whose counter is a constant.
#pragma once

#include <cstddef>
#include <utility>

#define PERIGEE_INLINE [[gnu::always_inline]] inline

namespace perigee::engine::cpu {

template <std::size_t I>
struct constant {
  static constexpr std::size_t value = I;
};

template <class F, std::size_t... I>
PERIGEE_INLINE void unrolled_over(std::index_sequence<I...>, const F& body) {
  (body(constant<I>{}), ...);
}

/// body(constant<0>{}), body(constant<1>{}), ... N times. Arrays that are indexed by
/// these constants alone stay in registers.
template <std::size_t N, class F>
PERIGEE_INLINE void unrolled(const F& body) {
  unrolled_over(std::make_index_sequence<N>{}, body);
}

} // namespace perigee::engine::cpu
