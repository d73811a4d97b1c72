/// \file
/// Two processes over the emulated machine's devices.
#pragma once

#include "tests/transport/peer_bed.hpp"
#include "transport/rdma/rdma.hpp"

#include <cstdlib>
#include <sstream>

namespace perigee::transport::test {

/// Short limits, and those that the conformance suite asks for.
inline rdma::options lively() {
  using namespace std::chrono_literals;
  rdma::options how;
  how.outstanding_max = pair_bed::outstanding_max;
  how.peers_max = pair_bed::peers_max;
  how.segments_max = pair_bed::segments_max;
  how.packet_retries = 4;
  how.packet_timeout = 13;
  return how;
}

inline std::unique_ptr<rdma::nic_transport> opened(process& in,
                                                   const rdma::options& how) {
  auto made = rdma::open(in.segments, how, in.peers.pen());
  if (!made)
    FAIL(made.error().what);
  return std::move(*made);
}

/// Those that `variable` of the environment lists, with commas; else the emulated ones.
inline std::vector<std::string> devices_of(const char* variable,
                                           std::vector<std::string> emulated) {
  const char* listed = std::getenv(variable);
  if (!listed)
    return emulated;
  std::vector<std::string> names;
  std::istringstream all{listed};
  for (std::string name; std::getline(all, name, ',');)
    names.push_back(name);
  return names;
}

/// The left one has rxe0 (and rxe2), the right one rxe1 (and rxe3); or what
/// PERIGEE_TEST_RDMA_LEFT and ..._RIGHT say.
class rdma_bed final : public pair_bed {
public:
  explicit rdma_bed(rdma::options how = lively(), std::size_t nics = 1) {
    how.devices = devices_of("PERIGEE_TEST_RDMA_LEFT", {"rxe0", "rxe2"});
    how.devices.resize(nics);
    left_.subject = opened(left_, how);
    how.devices = devices_of("PERIGEE_TEST_RDMA_RIGHT", {"rxe1", "rxe3"});
    how.devices.resize(nics);
    right_.subject = opened(right_, how);
  }

  process& left() override {
    return left_;
  }

  process& right() override {
    return right_;
  }

private:
  process left_, right_;
};

} // namespace perigee::transport::test
