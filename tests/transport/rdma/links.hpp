/// \file
/// The emulated machine's links, to be cut and made worse: see tools/rdma_vm/.
#pragma once

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <string>

namespace perigee::transport::test {

inline void sh(const std::string& command) {
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);
}

/// v1, which rxe1 is on, is down for as long as this lives. Its other end, rxe0's, sees
/// that, too.
class cut_link {
public:
  cut_link() {
    sh("ip link set v1 down");
  }

  ~cut_link() {
    mend();
  }

  /// The system has forgotten how to get from v1 to the other end.
  void mend() {
    if (std::exchange(is_cut_, false))
      sh("ip link set v1 up && "
         "ip route replace 198.51.100.1 dev v1 src 198.51.100.2 table 101 && "
         "ip neigh replace 198.51.100.1 lladdr 02:00:00:00:00:00 dev v1 nud permanent");
  }

private:
  bool is_cut_ = true;
};

/// Of the packets that v0 and v1 send this part is lost.
class lossy_link {
public:
  explicit lossy_link(const std::string& part) {
    for (const char* end : {"v0", "v1"})
      sh(std::string{"tc qdisc add dev "} + end + " root netem loss " + part);
  }

  ~lossy_link() {
    for (const char* end : {"v0", "v1"})
      sh(std::string{"tc qdisc del dev "} + end + " root");
  }
};

/// What the driver has counted of a device.
inline std::uint64_t driver_count(const std::string& device, const std::string& what) {
  std::ifstream from{"/sys/class/infiniband/" + device + "/ports/1/hw_counters/"
                     + what};
  std::uint64_t count = 0;
  from >> count;
  REQUIRE(from);
  return count;
}

} // namespace perigee::transport::test
