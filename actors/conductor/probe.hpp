/// \file
/// What a conductor counts.
#pragma once

#include "actors/conductor/refusal.hpp"
#include "actors/runtime/counter.hpp"
#include "actors/runtime/gauge.hpp"

#include <array>
#include <cstddef>

namespace perigee::conductor {

class holdings;

/// The actor says what happened, by verb; an exporter reads what came of it, by name.
class probe {
public:
  /// `blocks` of its prompt need not be computed, `fetched` of them are on another
  /// node.
  void placed(std::size_t blocks, std::size_t fetched) noexcept {
    placed_total_.add();
    blocks_reused_total_.add(blocks);
    blocks_fetched_total_.add(fetched);
  }

  void refused(reason why) noexcept {
    refused_total_[static_cast<std::size_t>(why)].add();
  }

  void cancelled() noexcept {
    cancelled_total_.add();
  }

  void expired(std::size_t requests) noexcept {
    expired_total_.add(requests);
  }

  void lost(std::size_t requests) noexcept {
    lost_total_.add(requests);
  }

  void asked_for_recount() noexcept {
    recounts_total_.add();
  }

  void left_out(std::size_t blocks) noexcept {
    blocks_left_out_total_.add(blocks);
  }

  void published() noexcept {
    books_total_.add();
  }

  void dropped_stale() noexcept {
    stale_total_.add();
  }

  void dropped_malformed() noexcept {
    malformed_total_.add();
  }

  void holds(std::size_t requests, std::size_t keys) noexcept {
    requests_.set(requests);
    index_keys_.set(keys);
  }

  std::uint64_t refused_total(reason why) const noexcept {
    return refused_total_[static_cast<std::size_t>(why)].value();
  }

  /// What the conductor believes shards to hold; null while there is none. To be read
  /// between its handlers, so in virtual time alone.
  const holdings* index() const noexcept {
    return index_;
  }
  void opened(const holdings& index) noexcept {
    index_ = &index;
  }
  void closed(const holdings& index) noexcept {
    if (index_ == &index) // else a successor's is open already
      index_ = nullptr;
  }

  /// Shows each number to `see(name, help, value)`. Names without `_total` may fall.
  template <class See>
  void each(See see) const {
    auto of = [this](reason why) { return refused_total(why); };
    see("placed_total", "Requests placed", placed_total_.value());
    see("blocks_reused_total", "Blocks of theirs that need not be computed",
        blocks_reused_total_.value());
    see("blocks_fetched_total", "Blocks among those that another node holds",
        blocks_fetched_total_.value());
    see("refused_prefill_total", "Requests refused: the first token would be late",
        of(reason::prefill_load));
    see("refused_decode_total", "Requests refused: tokens would be too far apart",
        of(reason::decode_load));
    see("refused_full_total", "Requests refused: the load book is full",
        of(reason::queue_full));
    see("refused_no_instance_total", "Requests refused: nobody is there to serve them",
        of(reason::no_instance));
    see("cancelled_total", "Requests cancelled that were placed",
        cancelled_total_.value());
    see("expired_total", "Requests nobody reported the end of", expired_total_.value());
    see("lost_total", "Requests that went with a lost instance", lost_total_.value());
    see("recounts_total", "Times a shard was asked for all it holds",
        recounts_total_.value());
    see("blocks_left_out_total", "Blocks not indexed, because the index is full",
        blocks_left_out_total_.value());
    see("books_total", "Load books published", books_total_.value());
    see("stale_total", "Messages dropped: of who has its name no longer, or too late",
        stale_total_.value());
    see("malformed_total", "Messages dropped: they contradict themselves",
        malformed_total_.value());
    see("requests", "Requests in the load book", requests_.value());
    see("index_keys", "Keys in the prefix index", index_keys_.value());
  }

private:
  static constexpr std::size_t reasons
    = static_cast<std::size_t>(reason::no_instance) + 1;

  rt::counter placed_total_;
  rt::counter blocks_reused_total_;
  rt::counter blocks_fetched_total_;
  std::array<rt::counter, reasons> refused_total_;
  rt::counter cancelled_total_;
  rt::counter expired_total_;
  rt::counter lost_total_;
  rt::counter recounts_total_;
  rt::counter blocks_left_out_total_;
  rt::counter books_total_;
  rt::counter stale_total_;
  rt::counter malformed_total_;
  rt::gauge requests_;
  rt::gauge index_keys_;
  const holdings* index_ = nullptr;
};

} // namespace perigee::conductor
