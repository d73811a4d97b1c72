/// \file
/// A shard in the lab, and what a test says to it in the names of others.
#pragma once

#include "actors/asker.hpp"
#include "actors/cache_shard/cache_shard.hpp"
#include "tests/actors/cache_shard/doubles.hpp"
#include "tests/actors/quiet_cluster.hpp"
#include "tests/lab/perigee_messages.hpp"
#include "transport/disk/modelled_disk.hpp"

namespace perigee::shard {

using lab = test::lab<caf::id_block::perigee>;

inline constexpr transport::geometry small{.layer_bytes = 64, .layers = 2};
inline constexpr block_key root{9, 9};

/// The test speaks in the names of prefill group 0, decode instance 0, the conductor,
/// the cluster and the transfer actor.
struct node {
  explicit node(std::uint64_t seed, std::uint32_t blocks = 4, options how = {},
                transport::modelled_disk_options disk = {})
    : how_(std::move(how)), blocks_(blocks), disk_(disk), bench(seed),
      subject(start_one(1)) {
    auto seat = [&](auto where, auto who, rt::actor_tag tag) {
      bench.roster().seat(where, {who, {1, 1}, tag});
    };
    auto me = bench.tag();
    seat(shard_name{}, subject, me);
    seat(prefill_name{}, bench.spawn<pool_user<prefill_actor>>(&heard), me);
    seat(decode_name{}, bench.spawn<pool_user<decode_actor>>(&heard_by_decode), me);
    seat(conductor_name{}, bench.spawn<listening_conductor>(&told), me);
    seat(cluster_name{}, bench.spawn<test::quiet_cluster>(), me);
    seat(transfer_name{}, bench.spawn<patient_mover>(&asked), me);
  }

  shard_actor start_one(std::uint32_t incarnation) {
    auto arena = dram_arena::make(
      segments,
      {.id = transport::segment_id{incarnation}, .shape = small, .blocks = blocks_});
    REQUIRE(arena);
    std::shared_ptr<transport::disk> below;
    if (disk_.slots > 0)
      below = transport::make_modelled_disk(*segments->find((*arena)->id()), disk_);
    return bench.adopt(
      start(bench.world(), {.incarnation = incarnation}, *arena, how_, counts, below));
  }

  // -- saying -----------------------------------------------------------------

  /// The outcome, as long as a disk may take for it. Its ticket is `tickets`.
  schema::Pinned::Reader pin(const block_chain& chain) {
    ask_pin(chain);
    if (disk_.slots > 0 && !heard.pinned.contains(tickets))
      bench.advance(how_.climb_limit);
    REQUIRE(heard.pinned.contains(tickets));
    return *heard.pinned.at(tickets);
  }

  void ask_pin(const block_chain& chain) {
    bench.tell<schema::Pin>(subject, [&](schema::Pin::Builder wish) {
      set_asker(wish.initAsker(), prefill_name{});
      wish.setTicket(++tickets);
      set_chain(wish.initChain(), chain);
      wish.getChain().initRoot().setHigh(root.high);
      wish.getChain().getRoot().setLow(root.low);
    });
    bench.settle();
  }

  void unpin(std::uint64_t lease) {
    bench.tell<schema::Unpin>(subject, [=](auto said) { said.setLease(lease); });
    bench.settle();
  }

  schema::Reserved::Reader reserve(const block_chain& keys, std::uint32_t depth = 0,
                                   block_key parent = root) {
    bench.tell<schema::Reserve>(subject, [&](schema::Reserve::Builder wish) {
      set_asker(wish.initAsker(), prefill_name{});
      wish.setTicket(++tickets);
      wish.initParent().setHigh(parent.high);
      wish.getParent().setLow(parent.low);
      wish.setDepth(depth);
      auto all = wish.initKeys(static_cast<unsigned>(keys.size()));
      for (unsigned i = 0; i < all.size(); ++i) {
        all[i].setHigh(keys[i].high);
        all[i].setLow(keys[i].low);
      }
    });
    bench.settle();
    REQUIRE(heard.reserved.contains(tickets));
    return *heard.reserved.at(tickets);
  }

  /// As the decode instance, for a sequence to be parked.
  schema::Reserved::Reader reserve_private(std::uint32_t blocks) {
    bench.tell<schema::Reserve>(subject, [&](schema::Reserve::Builder wish) {
      set_asker(wish.initAsker(), decode_name{});
      wish.setTicket(++tickets);
      wish.setPrivateBlocks(blocks);
    });
    bench.settle();
    REQUIRE(heard_by_decode.reserved.contains(tickets));
    return *heard_by_decode.reserved.at(tickets);
  }

  void seal(std::uint64_t grant, bool ok = true) {
    bench.tell<schema::Seal>(subject, [=](schema::Seal::Builder said) {
      said.setGrant(grant);
      said.setOk(ok);
    });
    bench.settle();
  }

  void release(std::uint64_t grant) {
    bench.tell<schema::Release>(subject, [=](auto said) { said.setGrant(grant); });
    bench.settle();
  }

  /// Reserves and seals; all of it must find room.
  void store(const block_chain& keys, std::uint32_t depth = 0,
             block_key parent = root) {
    auto said = reserve(keys, depth, parent);
    REQUIRE(said.isGranted());
    seal(said.getGranted().getId());
  }

  void withhold(std::uint32_t blocks) {
    bench.tell<schema::Withhold>(subject, [=](auto wish) { wish.setBlocks(blocks); });
    bench.settle();
  }

  void recount() {
    bench.tell<schema::Recount>(subject, [](auto) {});
    bench.settle();
  }

  /// The test itself, in all its names, or another is gone.
  void tell_of_loss(rt::actor_tag whom) {
    bench.tell<schema::Member>(subject, [&](schema::Member::Builder change) {
      change.setRole(schema::Role::PREFILL);
      change.initWho();
      change.setTag(static_cast<std::uint64_t>(whom));
    });
    bench.settle();
  }

  void answer_quiesce(std::uint64_t ticket) {
    bench.tell<schema::Quiesced>(subject, [=](auto said) { said.setTicket(ticket); });
    bench.settle();
  }

  // -- looking ----------------------------------------------------------------

  std::uint64_t count(const std::string& wanted) const {
    std::map<std::string, std::uint64_t> seen;
    counts->each([&](auto name, auto, auto value) { seen[name] = value; });
    return seen.at(wanted);
  }

  /// Every block is free, or sealed and leased by nobody; and the conductor knows
  /// which.
  void check_conservation() {
    bench.advance(how_.news_every);
    CHECK(count("blocks_free") + count("blocks_sealed") == blocks_);
    CHECK(count("blocks_writing") == 0);
    CHECK(count("blocks_kept") == 0);
    CHECK(count("blocks_leased") == 0);
    CHECK(count("blocks_ssd_moving") == 0);
    auto heard_of = told.here, on_disk = told.on_disk;
    CHECK(heard_of.size() == count("blocks_sealed") + on_disk.size());
    CHECK(on_disk.size() <= count("blocks_ssd"));
    recount();
    CHECK(told.here == heard_of);
    CHECK(told.on_disk == on_disk);
  }

  options how_;
  std::uint32_t blocks_;
  transport::modelled_disk_options disk_;
  std::shared_ptr<transport::segment_table> segments
    = std::make_shared<transport::segment_table>();
  std::shared_ptr<probe> counts = std::make_shared<probe>();
  pool_user<prefill_actor>::answers heard;
  pool_user<decode_actor>::answers heard_by_decode;
  listening_conductor::notes told;
  std::vector<Msg<schema::Quiesce>> asked;
  std::uint64_t tickets = 0;
  lab bench;
  shard_actor subject;
};

} // namespace perigee::shard
