/// \file
/// running_batch: who takes steps together, and how far they should be.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace perigee::decode {

/// The sequences of one run after another, as long as they are the same. How many steps
/// they have taken is estimated, even by who knows: so what an instance says of its load
/// does not depend on how many steps a run has. Pure.
class running_batch {
public:
  using moment = std::chrono::nanoseconds;

  bool is(const std::vector<std::uint64_t>& requests) const {
    return requests == requests_;
  }

  /// `step` is how long the first will take; 0 if nobody knows.
  void begin(std::vector<std::uint64_t> requests, moment now, moment step) {
    requests_ = std::move(requests);
    began_ = now;
    step_ = step;
  }

  std::uint32_t steps_by(moment now) const {
    return step_ > moment{} && !requests_.empty()
             ? static_cast<std::uint32_t>((now - began_) / step_)
             : 0;
  }

private:
  std::vector<std::uint64_t> requests_;
  moment began_{};
  moment step_{};
};

} // namespace perigee::decode
