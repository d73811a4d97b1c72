/// \file
/// What libibverbs makes, owned; and how its calls fail.
#pragma once

#include "schemas/result.hpp"

#include <infiniband/verbs.h>

#include <memory>

namespace perigee::transport::rdma {

/// A call of libibverbs that did not succeed.
struct verbs_error {
  const char* call = ""; ///< Its name, of static storage.
  int code = 0;          ///< As errno.
};

struct freed {
  void operator()(ibv_context* it) const noexcept {
    ibv_close_device(it);
  }
  void operator()(ibv_pd* it) const noexcept {
    ibv_dealloc_pd(it);
  }
  void operator()(ibv_comp_channel* it) const noexcept {
    ibv_destroy_comp_channel(it);
  }
  void operator()(ibv_cq* it) const noexcept {
    ibv_destroy_cq(it);
  }
  void operator()(ibv_qp* it) const noexcept {
    ibv_destroy_qp(it);
  }
  void operator()(ibv_mr* it) const noexcept {
    ibv_dereg_mr(it);
  }
  void operator()(ibv_mw* it) const noexcept {
    ibv_dealloc_mw(it);
  }
  void operator()(ibv_device** it) const noexcept {
    ibv_free_device_list(it);
  }
};

template <class T>
using owned = std::unique_ptr<T, freed>;

} // namespace perigee::transport::rdma
