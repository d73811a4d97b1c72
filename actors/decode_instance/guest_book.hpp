/// \file
/// guest_book: all requests of a decode instance.
#pragma once

#include "actors/decode_instance/guest.hpp"
#include "actors/decode_instance/tbt_model.hpp"

#include <map>

namespace perigee::decode {

/// What of an instance's work the conductor wants to know.
struct totals {
  std::uint32_t sequences = 0; ///< That take steps.
  std::uint32_t waiting = 0;   ///< Accepted, and they don't yet, or not now.
  std::uint64_t kv_tokens = 0; ///< Of both.
};

/// Who is here, by request. Bounded. No owner number and no age is given twice. Pure.
///
/// Cost: what asks for a stage, or adds up, walks over all.
class guest_book {
public:
  explicit guest_book(std::size_t guests_max) : guests_max_(guests_max) {}

  /// Who is there already, or somebody new who is expected. Null if there are as many
  /// as there may be. Valid until close().
  guest* open(std::uint64_t request);

  /// Makes it younger than all others.
  void set_youngest(guest& one) {
    one.age = ++ages_;
  }

  void close(std::uint64_t request) {
    guests_.erase(request);
  }

  guest* find(std::uint64_t request) {
    auto at = guests_.find(request);
    return at == guests_.end() ? nullptr : &at->second;
  }

  /// It is here.
  guest& at(std::uint64_t request) {
    return guests_.at(request);
  }
  const guest& at(std::uint64_t request) const {
    return guests_.at(request);
  }

  std::size_t size() const {
    return guests_.size();
  }

  std::size_t count_at(stage now) const;

  /// Those at a stage, oldest first.
  std::vector<const guest*> by_age(stage now) const;

  /// The step that all would take together whom the instance has accepted, when the
  /// running batch has taken `steps`.
  step_load load(std::uint32_t steps) const;

  totals sum(std::uint32_t steps) const;

  /// These take steps from now on, and nobody else. Returns the first of them.
  step_load set_batch(const std::vector<std::uint64_t>& requests);

  // In the order of requests.

  auto begin() {
    return guests_.begin();
  }
  auto end() {
    return guests_.end();
  }
  auto begin() const {
    return guests_.begin();
  }
  auto end() const {
    return guests_.end();
  }

private:
  std::size_t guests_max_;
  std::map<std::uint64_t, guest> guests_;
  std::uint64_t owners_ = 0;
  std::uint64_t ages_ = 0;
};

} // namespace perigee::decode
