#include "transport/tcp/tcp.hpp"

#include "tests/transport/peer_bed.hpp"
#include "tests/transport/tcp/test_authority.hpp"
#include "transport/tcp/address.hpp"

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;
using namespace test;

class tcp_bed final : public pair_bed {
public:
  explicit tcp_bed(const tcp::options& how = {}) : tcp_bed(how, how) {}

  tcp_bed(tcp::options left, tcp::options right) {
    open(left_, left);
    open(right_, right);
  }

  process& left() override {
    return left_;
  }

  process& right() override {
    return right_;
  }

private:
  static void open(process& one, tcp::options how) {
    how.limits.outstanding_max = outstanding_max;
    how.limits.book = {.peers_max = peers_max, .segments_max = segments_max};
    one.subject = tcp::open(one.segments, how, one.peers.pen()).value();
  }

  process left_, right_;
};

std::string refusal(const tcp::options& how) {
  segment_table none;
  auto opened = tcp::open(none, how, [](peer_id, const peer_news&) {});
  REQUIRE_FALSE(opened);
  return opened.error().what;
}

TEST_CASE("the tcp transport does what every transport between processes does") {
  conforms(make_pair_bed{[] { return std::make_unique<tcp_bed>(); }});
}

TEST_CASE("so it does with one connection, small requests and a narrow window") {
  tcp::options how;
  how.links = 1;
  how.limits.session.request_bytes = 10'001;
  how.limits.session.window_bytes = 30'000;
  conforms(make_pair_bed{[=] { return std::make_unique<tcp_bed>(how); }});
}

TEST_CASE("so it does over TLS") {
  test_authority authority;
  tcp::options left, right;
  left.tls = authority.issue("left");
  right.tls = authority.issue("right");
  conforms(make_pair_bed{[&] { return std::make_unique<tcp_bed>(left, right); }});
}

TEST_CASE("so it does over IPv6") {
  tcp::options how;
  how.listen = "[::1]:0";
  tcp_bed bed{how};
  REQUIRE(bed.right().subject->expect(peer_id{1}, connected_pair::key(1), 1min));
  REQUIRE(bed.left().subject->connect(peer_id{2}, bed.right().subject->here(),
                                      connected_pair::key(1)));
  bed.left().peers.next_of(peer_id{2}, peer_state::up);
}

TEST_CASE("who has no certificate of the same authority is turned away") {
  test_authority ours, theirs;
  tcp::options right;
  right.tls = ours.issue("right");
  tcp::options left;
  if (GENERATE(true, false))
    left.tls = theirs.issue("left"); // else none at all
  tcp_bed bed{left, right};
  REQUIRE(bed.right().subject->expect(peer_id{1}, connected_pair::key(1), 1min));
  REQUIRE(bed.left().subject->connect(peer_id{2}, bed.right().subject->here(),
                                      connected_pair::key(1)));
  CHECK(bed.left().peers.next_of(peer_id{2}, peer_state::lost).why
        == loss::turned_away);
  CHECK(comes_true([&] { return bed.right().subject->strangers_total() >= 1; }));
  CHECK_FALSE(bed.right().peers.told(peer_id{1}, peer_state::up));
}

TEST_CASE("without TLS nothing leaves the machine, unless that is said") {
  tcp::options how;
  how.listen = "0.0.0.0:0";
  how.advertise = "127.0.0.1:0";
  CHECK(refusal(how) == "0.0.0.0:0 is beyond this machine, which takes TLS");
  how.insecure = true;
  tcp_bed open{how};
  auto beyond = tcp::address::read("192.0.2.1:9")->bytes();
  tcp_bed closed;
  CHECK(closed.left().subject->connect(peer_id{1}, beyond, {}).error()
        == fault::refused);
}

TEST_CASE("a transport that cannot be set up says why") {
  tcp::options how;
  how.listen = "localhost:1";
  CHECK(refusal(how) == "'localhost:1' is no address in numbers, as 127.0.0.1:7401 is");
  how.listen = "127.0.0.1:70000";
  CHECK(refusal(how)
        == "'127.0.0.1:70000' is no address in numbers, as 127.0.0.1:7401 is");
  how = {.listen = "0.0.0.0:0", .insecure = true};
  CHECK(refusal(how).starts_with("nobody can connect to 0.0.0.0:0"));
  how = {.links = 0};
  CHECK(refusal(how) == "a peer has 1 to 16 connections");
  how = {.tls = tcp::certificates{"/nowhere", "/nowhere", "/nowhere"}};
  CHECK(refusal(how).starts_with("cannot read the authority's certificate '/nowhere'"));
  test_authority ours;
  auto mixed = ours.issue("a");
  mixed.key = ours.issue("b").key;
  how = {.tls = mixed};
  CHECK(refusal(how).starts_with("cannot use the certificate's key"));
  tcp_bed bed;
  const auto& where = bed.left().subject->here();
  how = {.listen = {reinterpret_cast<const char*>(where.data()), where.size()}};
  CHECK(refusal(how).starts_with("cannot listen at 127.0.0.1:"));
}

} // namespace
} // namespace perigee::transport
