/// \file
/// Who asks a transfer actor for movements in tests, and memory to move between.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/desk.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <vector>

namespace perigee::transfer {

/// Writes down what came of its movements, by ticket. Hears nothing else.
struct asking_group {
  using handle = prefill_actor;
  static constexpr const char* name = "asking_group";
  using answers = std::map<std::uint64_t, Msg<schema::Moved>>;

  asking_group(handle::pointer self, const rt::world& in, answers* heard)
    : desk_(self, in, name), heard_(heard) {}

  template <class T>
  void ignore(const Msg<T>&) {}

  template <class T>
  auto deaf() {
    return desk_.on(this, &asking_group::ignore<T>);
  }

  handle::behavior_type make_behavior() {
    return {deaf<schema::Prefill>(),   deaf<schema::Prompt>(),
            deaf<schema::Cancel>(),    deaf<schema::Roomed>(),
            deaf<schema::HandedOff>(), deaf<schema::Pinned>(),
            deaf<schema::Reserved>(),  desk_.on(this, &asking_group::on_moved),
            deaf<schema::Forwarded>(), deaf<schema::Member>(),
            deaf<schema::Due>(),       deaf<schema::Tick>()};
  }

private:
  void on_moved(const Msg<schema::Moved>& said) {
    CHECK(heard_->emplace(said->getTicket(), said).second); // one answer to a wish
  }

  rt::desk<handle> desk_;
  answers* heard_;
};

/// Writes down the tickets of what has been quiesced. Hears nothing else.
struct waiting_shard {
  using handle = shard_actor;
  static constexpr const char* name = "waiting_shard";

  waiting_shard(handle::pointer self, const rt::world& in,
                std::vector<std::uint64_t>* heard)
    : desk_(self, in, name), heard_(heard) {}

  template <class T>
  void ignore(const Msg<T>&) {}

  template <class T>
  auto deaf() {
    return desk_.on(this, &waiting_shard::ignore<T>);
  }

  handle::behavior_type make_behavior() {
    return {deaf<schema::Pin>(),     deaf<schema::Unpin>(),
            deaf<schema::Reserve>(), deaf<schema::Seal>(),
            deaf<schema::Release>(), deaf<schema::Withhold>(),
            deaf<schema::Recount>(), desk_.on(this, &waiting_shard::on_quiesced),
            deaf<schema::Member>(),  deaf<schema::Due>(),
            deaf<schema::Tick>()};
  }

private:
  void on_quiesced(const Msg<schema::Quiesced>& said) {
    heard_->push_back(said->getTicket());
  }

  rt::desk<handle> desk_;
  std::vector<std::uint64_t>* heard_;
};

} // namespace perigee::transfer
