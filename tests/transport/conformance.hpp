/// \file
/// What every transport must do. Each back end's test calls conforms() with its own
/// bed.
#pragma once

#include "transport/transport.hpp"

#include <functional>
#include <memory>

namespace perigee::transport::test {

/// A transport, and what differs between back ends in how a test has to treat them.
class bed {
public:
  virtual ~bed() = default;

  virtual segment_table& segments() = 0;
  virtual transport& subject() = 0;

  /// At most so many moves may be outstanding.
  static constexpr std::size_t outstanding_max = 8;

  /// Lets the limit of `id`, which was a short one, pass.
  virtual void let_pass(move_id id) = 0;
};

using make_bed = std::function<std::unique_ptr<bed>()>;

/// Checks all that transport.hpp promises. Makes a bed for each property.
void conforms(const make_bed& make);

} // namespace perigee::transport::test
