/// \file
/// gate_ear: hears gates open, for who cannot wait at them.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/doorway.hpp"
#include "transport/gate_board.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace perigee::engine_host {

/// Writes down when each layer became open in all of some gates, by what the gates say
/// of that, else by when it heard; and tells an engine host once that is all of them, or
/// will never be.
///
/// Any thread may open the gates; all else is the host's.
class gate_ear : public std::enable_shared_from_this<gate_ear> {
public:
  gate_ear(const rt::world& in, engine_actor host)
    : door_(in, "enginegate"), host_(std::move(host)) {}

  /// Tells the host `Ran` with `number`, at once if it is so already. Until hush().
  void listen(std::vector<transport::gate_ptr> gates, std::uint32_t layers,
              std::uint64_t number);
  void hush();

  /// When each layer became open: as many as have.
  std::vector<std::chrono::nanoseconds> opened() const;

  rt::actor_tag tag() const {
    return door_.tag();
  }

private:
  void look();
  std::chrono::nanoseconds opened_at(std::uint32_t layer) const;

  mutable std::mutex mutex_; // of all below
  rt::doorway door_;
  const engine_actor host_;
  std::vector<transport::gate_ptr> gates_;
  std::vector<std::uint64_t> watches_; // of each gate
  std::vector<std::chrono::nanoseconds> opened_;
  std::uint32_t layers_ = 0;
  std::uint64_t number_ = 0;
  bool told_ = true;
};

} // namespace perigee::engine_host
