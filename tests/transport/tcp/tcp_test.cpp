#include "transport/tcp/tcp.hpp"

#include "tests/transport/peer_bed.hpp"

namespace perigee::transport {
namespace {

using namespace test;

class tcp_bed final : public pair_bed {
public:
  explicit tcp_bed(tcp::options how = {}) {
    how.limits.outstanding_max = outstanding_max;
    how.limits.book = {.peers_max = peers_max, .segments_max = segments_max};
    for (auto* one : {&left_, &right_})
      one->subject = tcp::open(one->segments, how, one->peers.pen()).value();
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

TEST_CASE("the tcp transport does what every transport between processes does") {
  conforms(make_pair_bed{[] { return std::make_unique<tcp_bed>(); }});
}

} // namespace
} // namespace perigee::transport
