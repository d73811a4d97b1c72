/// \file
/// Those a conductor and a rejector speak to, and what is said to them in tests.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/desk.hpp"
#include "schemas/convert.hpp"

#include <string>
#include <tuple>
#include <vector>

namespace perigee::test {

/// Writes down all that it hears, and says nothing.
template <class Handle, class... Ts>
class listener {
public:
  using handle = Handle;
  static constexpr const char* name = "listener";

  /// By type of message, in the order it came.
  class notes {
  public:
    template <class T>
    const std::vector<Msg<T>>& of() const {
      return std::get<std::vector<Msg<T>>>(heard_);
    }

    template <class T>
    void add(const Msg<T>& msg) {
      std::get<std::vector<Msg<T>>>(heard_).push_back(msg);
    }

  private:
    std::tuple<std::vector<Msg<Ts>>...> heard_;
  };

  listener(typename handle::pointer self, const rt::world& in, notes* heard)
    : desk_(self, in, name), heard_(heard) {}

  typename handle::behavior_type make_behavior() {
    return {desk_.on(this, &listener::template on<Ts>)...};
  }

private:
  template <class T>
  void on(const Msg<T>& msg) {
    heard_->add(msg);
  }

  rt::desk<handle> desk_;
  notes* heard_;
};

using listening_gateway
  = listener<gateway_actor, schema::Submit, schema::Withdraw, schema::Placed,
             schema::PromptScores, schema::Tokens, schema::Cancelled, schema::Member,
             schema::Drain, schema::Due>;

using listening_rejector = listener<rejector_actor, schema::Arrive, schema::Cancel,
                                    schema::Book, schema::Member, schema::Due>;

using listening_conductor
  = listener<conductor_actor, schema::Place, schema::Cancel, schema::PrefillLoad,
             schema::DecodeLoad, schema::Stored, schema::Evicted, schema::Snapshot,
             schema::Member, schema::Apart, schema::Due, schema::Tick>;

using listening_group
  = listener<prefill_actor, schema::Prefill, schema::Prompt, schema::Cancel,
             schema::Roomed, schema::HandedOff, schema::Pinned, schema::Reserved,
             schema::Moved, schema::Forwarded, schema::Member, schema::Due,
             schema::Tick>;

using listening_instance
  = listener<decode_actor, schema::Expect, schema::Room, schema::Handoff,
             schema::Landed, schema::Cancel, schema::Reserved, schema::Moved,
             schema::Quiesced, schema::Forwarded, schema::Member, schema::Due,
             schema::Tick>;

using listening_shard
  = listener<shard_actor, schema::Pin, schema::Unpin, schema::Reserve, schema::Seal,
             schema::Release, schema::Withhold, schema::Recount, schema::Quiesced,
             schema::Member, schema::Due, schema::Tick>;

// -- messages -----------------------------------------------------------------

/// A prompt, by its keys: blocks of 16 tokens, and one token more.
struct asked {
  std::uint64_t request = 1;
  block_chain chain = {};
  std::uint32_t prompt_tokens = 0; ///< 0: as the chain has.
  std::uint32_t tokens_max = 100;
  std::chrono::nanoseconds remaining = std::chrono::seconds{60};
  std::chrono::nanoseconds ttft_limit{};

  void write(schema::Wish::Builder wish) const {
    auto tokens = static_cast<std::uint32_t>(chain.size() * block_tokens_min + 1);
    wish.initGateway();
    wish.setRequest(request);
    wish.setPromptTokens(prompt_tokens > 0 ? prompt_tokens : tokens);
    wish.setTokensMax(tokens_max);
    set_chain(wish.initChain(), chain);
    wish.setRemainingNs(static_cast<std::uint64_t>(remaining.count()));
    wish.setTtftLimitNs(static_cast<std::uint64_t>(ttft_limit.count()));
  }
};

/// `blocks` keys; chains of one `family` begin alike.
inline block_chain chain_of(std::size_t blocks, std::uint64_t family = 1) {
  block_chain chain;
  for (std::uint64_t i = 0; i < blocks; ++i)
    chain.push_back({family, i});
  return chain;
}

inline auto cancelling(std::uint64_t request) {
  return [=](schema::Cancel::Builder wish) {
    wish.setRequest(request);
    wish.initGateway();
  };
}

inline auto member(schema::Role role, std::uint32_t node, bool up) {
  return [=](schema::Member::Builder news) {
    news.setRole(role);
    news.initWho().setNode(node);
    news.setUp(up);
  };
}

inline auto keys_into(const block_chain& keys) {
  return [&keys](auto news) {
    auto to = news.initKeys(static_cast<unsigned>(keys.size()));
    for (unsigned i = 0; i < to.size(); ++i) {
      to[i].setHigh(keys[i].high);
      to[i].setLow(keys[i].low);
    }
  };
}

} // namespace perigee::test
