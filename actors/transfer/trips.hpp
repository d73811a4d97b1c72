/// \file
/// trips: movements that take their time over modelled links.
#pragma once

#include "actors/runtime/desk.hpp"
#include "actors/transfer/modelled_links.hpp"
#include "actors/transfer/movement.hpp"
#include "transport/modelled/flow_table.hpp"

#include <functional>
#include <map>

namespace perigee::transfer {

/// Which way a movement goes over its node's own link.
enum class link_way : transport::link_index { loading, storing };

/// Part of the state of a transfer actor: what of its movements is on its way over
/// modelled links, and has touched no memory yet. A gate that is to open layer by layer is
/// told when each arrived, at the end: so layers cost no messages.
class trips {
public:
  using number = std::uint64_t; ///< Of a movement; from 1.
  using nanoseconds = std::chrono::nanoseconds;

  /// A movement's bytes have come: it is to be carried out now.
  using then = std::function<void(number, transport::move)>;

  trips(rt::desk<transfer_actor>& desk, transfer_actor self, modelled_links links,
        then arrived);

  /// Takes `what`, and sends it on its way. False if that takes no time: then nothing
  /// is taken.
  bool begin(number which, transport::move& what, link_way way, const rt::cause& why,
             const surroundings& here);

  /// The fabric says that all of it is here.
  void on_flowed(schema::Flowed::Reader said);

  /// A timer says so.
  void arrive(number which);

  /// Ends a trip before its time, and fails the gate that it was to open.
  void call_off(number which);

  /// How long after a movement was carried out its last layer comes: more than 0 if it
  /// was held back by layers until its other bytes had come. Asked once.
  nanoseconds take_last_layer(number which);

  /// A movement that had arrived has ended, however.
  void forget(number which);

  /// A timer without a number: the link is to be looked at.
  void on_link_timer(std::uint64_t epoch);

  /// A new fabric knows of nothing that is under way: all of it sets off again.
  void on_new_fabric();

private:
  struct trip {
    transport::move what;
    journey over;
    rt::cause why;
    nanoseconds last_layer;
    std::vector<nanoseconds> layers_here{}; // of whose gate somebody waits

    bool is_within() const {
      return over.from == over.to;
    }
  };

  std::uint32_t parts_of(const trip& one) const;
  nanoseconds time_of_layer(const trip& one, link_way way) const;
  void set_off(number which, const trip& one);
  void watch_link();

  rt::desk<transfer_actor>& desk_;
  const transfer_actor self_;
  const modelled_links links_;
  const then arrived_;
  std::map<number, trip> under_way_;
  std::map<number, nanoseconds> last_layers_; // of what has arrived, and was held back
  std::optional<transport::flow_table> link_; // the node's own
  std::optional<nanoseconds> link_timer_;     // when the next is due, if one is set
  std::uint64_t link_epoch_ = 0;
};

} // namespace perigee::transfer
