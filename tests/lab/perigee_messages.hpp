/// \file
/// perigee_messages: labs of our own roles, whose messages' tables are compiled elsewhere.
/// To be included in place of lab.hpp.
#pragma once

#include "actors/interfaces.hpp"
#include "tests/lab/lab.hpp"

namespace perigee::test {

extern template struct messages_of<caf::id_block::perigee>;

} // namespace perigee::test
