#include "tests/transport/peer_scene.hpp"

namespace perigee::transport::test {

void conforms(const make_pair_bed& make) {
  for (auto direction : {way::write, way::read})
    DYNAMIC_SECTION((direction == way::write ? "a write: " : "a read: ")) {
      moves_between_processes(make, direction);
      survives_ends(make, direction);
    }
  knows_its_peers(make);
}

} // namespace perigee::transport::test
