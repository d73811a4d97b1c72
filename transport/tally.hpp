/// \file
/// tally: counts what came of moves. For back ends.
#pragma once

#include "transport/transport.hpp"

namespace perigee::transport {

class tally {
public:
  void ended(const outcome& what) {
    if (!what)
      return missed(what.error());
    ++counts_.moves_total;
    counts_.bytes_total += *what;
  }

  /// Returns `why` as a refusal.
  tl::unexpected<fault> refused(fault why) {
    missed(why);
    return failure(why);
  }

  statistics read(std::size_t outstanding) const {
    auto counts = counts_;
    counts.outstanding = outstanding;
    return counts;
  }

private:
  void missed(fault why) {
    ++counts_.faults_total[static_cast<std::size_t>(why) - 1];
  }

  statistics counts_;
};

} // namespace perigee::transport
