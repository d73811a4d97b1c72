#include "tests/lab/perigee_messages.hpp"

namespace perigee::test {

template struct messages_of<caf::id_block::perigee>;

} // namespace perigee::test
