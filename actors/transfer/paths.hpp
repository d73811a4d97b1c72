/// \file
/// paths: which transport carries what.
#pragma once

#include "transport/transport.hpp"

#include <memory>

namespace perigee::transfer {

/// The transports of one transfer actor, and the choice between them. Whoever brings
/// another transport writes another one of these.
class paths {
public:
  /// Closes the transports: ends all moves, and returns once each was told.
  virtual ~paths() = default;

  /// What carries blocks from one segment to the other; null if nothing does. The same
  /// for the same segments. Lives as long as this.
  virtual transport::transport* between(transport::segment_id from,
                                        transport::segment_id to)
    = 0;
};

/// All by one transport: where all segments are this process's.
class one_path final : public paths {
public:
  explicit one_path(std::unique_ptr<transport::transport> all) : all_(std::move(all)) {}

  transport::transport* between(transport::segment_id, transport::segment_id) override {
    return all_.get();
  }

private:
  std::unique_ptr<transport::transport> all_;
};

} // namespace perigee::transfer
