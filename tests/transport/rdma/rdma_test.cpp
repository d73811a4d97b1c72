#include "tests/transport/rdma/rdma_bed.hpp"

namespace perigee::transport {
namespace {

using namespace test;

TEST_CASE("rdma does what every transport between processes does") {
  conforms([] { return std::make_unique<rdma_bed>(); });
}

} // namespace
} // namespace perigee::transport
