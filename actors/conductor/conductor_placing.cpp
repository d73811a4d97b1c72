#include "actors/conductor/conductor_state.hpp"
#include "actors/conductor/plan_words.hpp"
#include "actors/conductor/words.hpp"

namespace perigee::conductor {
namespace {

/// To be asked again soon: an instance is being replaced, or a request will end.
constexpr nanoseconds soon = std::chrono::seconds{1};

prefill_name name_of(const group_id& who) {
  return {who.node, who.index};
}

decode_name name_of(const instance_id& who) {
  return {who.node, who.index};
}

/// As which a group is known where it decodes, too.
coupled_name coupled_name_of(const group_id& who) {
  return {who.node, who.index};
}

} // namespace

void conductor_state::on_place(const Msg<schema::Place>& asked) {
  if (!is_current(asked, rejector()))
    return;
  auto wanted = asked->getWish();
  if (!is_sound(wanted))
    return probe_->dropped_malformed();
  auto chain = to_chain(wanted.getChain());
  auto runs = held_.runs(chain);
  // Who is not there any more, though nobody said so yet, is left out at the next
  // try.
  while (!try_to_place(asked, runs)) {
  }
}

/// False if the group that was chosen is lost, which is known now.
bool conductor_state::try_to_place(const Msg<schema::Place>& asked,
                                   std::span<const run> runs) {
  auto wanted = to_wish(asked->getWish(), how_.ttft_limit, how_.tbt_limit);
  scene here{desk_.now(), book_.all(), runs, how_.cost, how_.coupled, apart_};
  auto chosen = policy_->choose(wanted, here);
  if (!chosen) {
    refuse(asked, {reason::no_instance, 0, soon});
    return true;
  }
  if (auto why = find_shortfall(*chosen, wanted, here, how_.wanted)) {
    refuse(asked, *why);
    return true;
  }
  if (!book_.place(to_placement(*chosen, asked->getWish(), desk_.now(), how_.grace),
                   desk_.now())) {
    refuse(asked, {reason::queue_full, 1, soon});
    return true;
  }
  if (!tell_group(asked, *chosen)) {
    lose(chosen->prefill);
    if (how_.coupled)
      lose(chosen->decode);
    return false;
  }
  if (!how_.coupled)
    tell_instance(asked, *chosen);
  tell_gateway(asked, *chosen);
  auto is_remote = chosen->source != chosen->prefill.node;
  probe_->placed(chosen->reuse_blocks, is_remote ? chosen->reuse_blocks : 0);
  book_changed();
  return true;
}

bool conductor_state::tell_group(const Msg<schema::Place>& asked, const plan& chosen) {
  auto fill = [&](schema::Prefill::Builder work) { set_prefill(work, chosen, *asked); };
  return how_.coupled
           ? desk_.tell<schema::Prefill>(coupled_name_of(chosen.prefill), asked, fill)
           : desk_.tell<schema::Prefill>(name_of(chosen.prefill), asked, fill);
}

/// One that is not there will be found missing by the group.
void conductor_state::tell_instance(const Msg<schema::Place>& asked,
                                    const plan& chosen) {
  if (asked->getWish().getTokensMax() > 1)
    desk_.tell<schema::Expect>(name_of(chosen.decode), asked,
                               [&](schema::Expect::Builder news) {
                                 set_expect(news, chosen, asked->getWish());
                               });
}

void conductor_state::tell_gateway(const Msg<schema::Place>& asked,
                                   const plan& chosen) {
  answer(asked, [&](schema::Placed::Builder said) {
    set_plan(said.initPlaced(), chosen, how_.coupled);
  });
}

void conductor_state::refuse(const Msg<schema::Place>& asked, const refusal& why) {
  probe_->refused(why.why);
  answer(asked,
         [&](schema::Placed::Builder said) { set_refusal(said.initRefused(), why); });
}

/// Of a request that was never placed, or has ended, there is nothing to hold.
void conductor_state::on_cancel(const Msg<schema::Cancel>& wish) {
  if (book_.end(request_id{wish->getRequest()}, desk_.now())) {
    probe_->cancelled();
    book_changed();
  }
  desk_.tell<schema::Cancelled>(to_name<gateway_name>(wish->getGateway()), wish,
                                [&](schema::Cancelled::Builder said) {
                                  said.setRequest(wish->getRequest());
                                  said.setBy(schema::Role::CONDUCTOR);
                                });
}

} // namespace perigee::conductor
