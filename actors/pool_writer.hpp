/// \file
/// pool_writer: brings blocks of an actor's arena into its node's shard.
#pragma once

#include "actors/movements.hpp"
#include "actors/runtime/pending_table.hpp"
#include "schemas/assert.hpp"
#include "schemas/vocabulary.hpp"
#include "transport/gate_board.hpp"

#include <optional>

namespace perigee {

/// Private blocks, in the shard until they are released.
struct kept_blocks {
  std::uint64_t grant = 0;
  std::uint64_t segment = 0;
  std::vector<std::uint32_t> blocks; ///< As the sources were.
};

/// Part of the state of an actor that owns an arena. Each piece takes three steps:
/// Reserve, Push, Seal; the shard may refuse, or not answer in time: then it is not
/// stored.
template <class Handle>
class pool_writer {
public:
  struct piece {
    rt::cause why;
    std::uint64_t segment = 0;          ///< The actor's own.
    std::vector<std::uint32_t> sources; ///< There: one for each key, or private block.
    block_chain keys;                   ///< Empty: private blocks, as many as sources.
    block_key parent;                   ///< Of the first key.
    std::uint32_t depth = 0;            ///< Blocks before it in its chain.

    /// Its layers are pushed as this is passed. Null: they are there.
    std::shared_ptr<transport::owned_gate> gate;
  };

  /// Called once the sources are not read any more on its account. Not stored: nothing.
  /// What has keys keeps nothing.
  using then = std::function<void(std::optional<kept_blocks>)>;

  using set_timer
    = std::function<void(std::chrono::nanoseconds due, std::uint64_t epoch)>;

  pool_writer(rt::desk<Handle>& desk, std::uint64_t& tickets, movements<Handle>& moves,
              std::size_t pieces_max, std::chrono::nanoseconds answer_limit,
              std::chrono::nanoseconds move_limit, set_timer set)
    : desk_(desk), tickets_(tickets), moves_(moves), answer_limit_(answer_limit),
      move_limit_(move_limit),
      asked_(pieces_max, std::move(set),
             [](auto, const job& one) { one->told(std::nullopt); }) {}

  /// False, and `told` is not called, if it can't be stored: no shard is there, or too
  /// many pieces are under way.
  bool store(piece what, then told) {
    auto ticket = ++tickets_;
    auto one = std::make_shared<work>(work{std::move(what), std::move(told)});
    if (!asked_.put(ticket, desk_.now() + answer_limit_, one))
      return false;
    bool there = desk_.template tell<schema::Reserve>(
      shard(), one->what.why,
      [&](schema::Reserve::Builder wish) { write(wish, ticket, one->what); });
    if (!there)
      asked_.take(ticket);
    return there;
  }

  /// False if it answers nothing that is open, or is from somebody else. Who was
  /// granted something too late says so to the shard.
  bool took(const Msg<schema::Reserved>& said) {
    if (!desk_.is_from(shard(), said))
      return false;
    auto one = asked_.take(said->getTicket());
    if (said->isBusy()) {
      if (one)
        (*one)->told(std::nullopt);
      return one.has_value();
    }
    auto granted = said->getGranted();
    if (one)
      push(*one, granted);
    else if (granted.getId() != 0)
      seal(rt::cause{said}, granted.getId(), false);
    return one.has_value();
  }

  void release(const rt::cause& why, std::uint64_t grant) {
    desk_.template tell<schema::Release>(shard(), why,
                                         [&](auto news) { news.setGrant(grant); });
  }

  void on_timer(std::uint64_t epoch) {
    asked_.on_timer(epoch, desk_.now());
  }

  /// The shard has ended: what it was asked, it will not answer.
  void lose() {
    asked_.expire_if([](const job&) { return true; });
  }

  /// Questions that are not answered.
  std::size_t size() const {
    return asked_.size();
  }

private:
  struct work {
    piece what;
    then told;
  };
  using job = std::shared_ptr<work>;

  shard_name shard() const {
    return {desk_.me().node, 0};
  }

  void write(schema::Reserve::Builder wish, std::uint64_t ticket, const piece& what) {
    set_asker(wish.initAsker(), desk_.me());
    wish.setTicket(ticket);
    wish.setRemainingNs(static_cast<std::uint64_t>(answer_limit_.count()));
    if (what.keys.empty())
      return wish.setPrivateBlocks(static_cast<std::uint32_t>(what.sources.size()));
    wish.initParent().setHigh(what.parent.high);
    wish.getParent().setLow(what.parent.low);
    wish.setDepth(what.depth);
    auto keys = wish.initKeys(static_cast<unsigned>(what.keys.size()));
    for (unsigned i = 0; i < keys.size(); ++i) {
      keys[i].setHigh(what.keys[i].high);
      keys[i].setLow(what.keys[i].low);
    }
  }

  void push(const job& one, schema::Grant::Reader granted) {
    kept_blocks there{granted.getId(), granted.getSegment(), {}};
    move_order order;
    order.from = one->what.segment;
    order.to = granted.getSegment();
    bool is_private = one->what.keys.empty();
    if (is_private)
      there.blocks.resize(one->what.sources.size());
    for (auto item : granted.getItems()) {
      if (item.getIndex() >= one->what.sources.size())
        return refuse(one, granted.getId());
      order.sources.push_back(one->what.sources[item.getIndex()]);
      order.targets.push_back(item.getBlock());
      if (is_private)
        there.blocks[item.getIndex()] = item.getBlock();
    }
    if (is_private && order.targets.size() != one->what.sources.size())
      return refuse(one, granted.getId());
    if (order.targets.empty()) // all are there already
      return one->told(there);
    if (one->what.gate)
      order.await_gate = static_cast<std::uint64_t>(one->what.gate->id());
    order.priority = schema::Priority::BACKGROUND;
    order.limit = std::chrono::nanoseconds{granted.getExpiresInNs()};
    if (!one->what.gate)
      order.limit = std::min(order.limit, move_limit_);
    auto ticket = moves_.push(one->what.why, order, [=, this](auto, auto fault) {
      bool ok = fault == schema::MoveFault::NONE;
      seal(one->what.why, there.grant, ok);
      one->told(ok ? std::optional{there} : std::nullopt);
    });
    if (ticket == 0)
      refuse(one, granted.getId());
  }

  void refuse(const job& one, std::uint64_t grant) {
    seal(one->what.why, grant, false);
    one->told(std::nullopt);
  }

  void seal(const rt::cause& why, std::uint64_t grant, bool ok) {
    desk_.template tell<schema::Seal>(shard(), why, [&](schema::Seal::Builder news) {
      news.setGrant(grant);
      news.setOk(ok);
    });
  }

  rt::desk<Handle>& desk_;
  std::uint64_t& tickets_;
  movements<Handle>& moves_;
  std::chrono::nanoseconds answer_limit_;
  std::chrono::nanoseconds move_limit_;
  rt::pending_table<std::uint64_t, job> asked_;
};

} // namespace perigee
