#include "tests/lab/node_messages.hpp"

namespace perigee::test {

template struct messages_of<caf::id_block::perigee_nodes>;

} // namespace perigee::test
