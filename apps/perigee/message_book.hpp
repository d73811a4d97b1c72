/// \file
/// message_book: the messages that actors exchange, by the numbers that journals have.
#pragma once

#include "schemas/fault.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace perigee::app {

struct message_type {
  std::string name; ///< Such as "Prefill".
  capnp::StructSchema schema;
  std::unique_ptr<const judge> judged_by;
};

/// Every message of actors/interfaces.hpp. Immutable.
class message_book {
public:
  message_book();

  /// Null if there is no such message.
  const message_type* find(std::uint64_t type) const;

  std::vector<capnp::StructSchema> schemas() const;

private:
  std::map<std::uint64_t, message_type> types_;
};

} // namespace perigee::app
