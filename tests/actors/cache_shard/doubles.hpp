/// \file
/// Whom a shard speaks to in tests.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/desk.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <vector>

namespace perigee::shard {

/// Writes down what came of its wishes, by ticket. Hears nothing else.
template <class Handle>
struct pool_user {
  using handle = Handle;
  static constexpr const char* name = "pool_user";

  struct answers {
    std::map<std::uint64_t, Msg<schema::Pinned>> pinned;
    std::map<std::uint64_t, Msg<schema::Reserved>> reserved;
  };

  pool_user(typename handle::pointer self, const rt::world& in, answers* heard)
    : desk_(self, in, name), heard_(heard) {}

  template <class T>
  void hear(const Msg<T>& said) {
    if constexpr (std::is_same_v<T, schema::Pinned>)
      CHECK(heard_->pinned.emplace(said->getTicket(), said).second);
    else if constexpr (std::is_same_v<T, schema::Reserved>)
      CHECK(heard_->reserved.emplace(said->getTicket(), said).second);
  }

  template <class T>
  auto on() {
    return desk_.on(this, &pool_user::hear<T>);
  }

  typename handle::behavior_type make_behavior() {
    if constexpr (std::is_same_v<Handle, prefill_actor>)
      return {on<schema::Prefill>(),  on<schema::Prompt>(),    on<schema::Cancel>(),
              on<schema::Roomed>(),   on<schema::HandedOff>(), on<schema::Pinned>(),
              on<schema::Reserved>(), on<schema::Moved>(),     on<schema::Forwarded>(),
              on<schema::Member>(),   on<schema::Due>(),       on<schema::Tick>()};
    else
      return {on<schema::Expect>(), on<schema::Room>(),     on<schema::Handoff>(),
              on<schema::Landed>(), on<schema::Cancel>(),   on<schema::Reserved>(),
              on<schema::Moved>(),  on<schema::Quiesced>(), on<schema::Forwarded>(),
              on<schema::Member>(), on<schema::Due>(),      on<schema::Tick>()};
  }

  rt::desk<handle> desk_;
  answers* heard_;
};

/// Keeps what a shard says that it holds, as the conductor would.
struct listening_conductor {
  using handle = conductor_actor;
  static constexpr const char* name = "listening_conductor";

  struct notes {
    std::set<block_key> here;
    std::set<block_key> on_disk; // of those
    std::uint64_t number = 0;    // of the last news
    std::size_t news = 0;
    std::size_t parts = 0; // of snapshots
    std::vector<std::chrono::nanoseconds> at;
  };

  listening_conductor(handle::pointer self, const rt::world& in, notes* heard)
    : desk_(self, in, name), heard_(heard) {}

  template <class T>
  void hear(const Msg<T>& said) {
    if constexpr (std::is_same_v<T,
                                 schema::Stored> || std::is_same_v<T, schema::Evicted>)
      take_news(said);
    else if constexpr (std::is_same_v<T, schema::Snapshot>)
      take_part(said);
  }

  template <class T>
  auto on() {
    return desk_.on(this, &listening_conductor::hear<T>);
  }

  handle::behavior_type make_behavior() {
    return {on<schema::Place>(),      on<schema::Cancel>(), on<schema::PrefillLoad>(),
            on<schema::DecodeLoad>(), on<schema::Stored>(), on<schema::Evicted>(),
            on<schema::Snapshot>(),   on<schema::Member>(), on<schema::Apart>(),
            on<schema::Due>(),        on<schema::Tick>()};
  }

  template <class T>
  void take_news(const Msg<T>& said) {
    CHECK(said->getNumber() == ++heard_->number); // without a gap
    CHECK(said->getKeys().size() > 0);
    ++heard_->news;
    heard_->at.push_back(desk_.now());
    for (auto key : said->getKeys()) {
      block_key one{key.getHigh(), key.getLow()};
      bool was_on_disk = heard_->on_disk.erase(one) == 1;
      if constexpr (std::is_same_v<T, schema::Stored>) {
        bool is_new = heard_->here.insert(one).second;
        bool is_on_disk = said->getTier() == schema::Tier::SSD;
        CHECK((is_new || is_on_disk != was_on_disk));
        if (is_on_disk)
          heard_->on_disk.insert(one);
      } else {
        CHECK(heard_->here.erase(one) == 1);
      }
    }
  }

  void take_part(const Msg<schema::Snapshot>& said) {
    CHECK(said->getNumber() == heard_->number);
    if (said->getPart() == 0) {
      heard_->here.clear();
      heard_->on_disk.clear();
    }
    ++heard_->parts;
    for (auto key : said->getKeys()) {
      heard_->here.insert({key.getHigh(), key.getLow()});
      if (said->getTier() == schema::Tier::SSD)
        heard_->on_disk.insert({key.getHigh(), key.getLow()});
    }
  }

  rt::desk<handle> desk_;
  notes* heard_;
};

/// Writes down whom it was asked to quiesce, and lets the test answer.
struct patient_mover {
  using handle = transfer_actor;
  static constexpr const char* name = "patient_mover";

  patient_mover(handle::pointer self, const rt::world& in,
                std::vector<Msg<schema::Quiesce>>* asked)
    : desk_(self, in, name), asked_(asked) {}

  template <class T>
  void hear(const Msg<T>& said) {
    if constexpr (std::is_same_v<T, schema::Quiesce>)
      asked_->push_back(said);
  }

  template <class T>
  auto on() {
    return desk_.on(this, &patient_mover::hear<T>);
  }

  handle::behavior_type make_behavior() {
    return {on<schema::Fetch>(),       on<schema::Push>(),   on<schema::Abort>(),
            on<schema::Quiesce>(),     on<schema::Done>(),   on<schema::Flowed>(),
            on<schema::Dial>(),        on<schema::Dialed>(), on<schema::Shown>(),
            on<schema::LineChanged>(), on<schema::Fence>(),  on<schema::Member>(),
            on<schema::Due>()};
  }

  rt::desk<handle> desk_;
  std::vector<Msg<schema::Quiesce>>* asked_;
};

} // namespace perigee::shard
