/// \file
/// node_messages: the same of what nodes say to each other.
#pragma once

#include "actors/cluster/introductions.hpp"
#include "tests/lab/perigee_messages.hpp"

namespace perigee::test {

extern template struct messages_of<caf::id_block::perigee_nodes>;

} // namespace perigee::test
