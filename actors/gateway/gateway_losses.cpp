#include "actors/gateway/gateway_state.hpp"
#include "schemas/convert.hpp"

#include <type_traits>

namespace perigee::gateway {

void gateway_state::on_member(const Msg<schema::Member>& news) {
  auto role = news->getRole();
  bool places = role == schema::Role::REJECTOR || role == schema::Role::CONDUCTOR;
  if (role == schema::Role::CONDUCTOR)
    conductor_is_lost_ = !news->getUp();
  if (news->getUp())
    return places ? arrive_all() : void();
  if (places)
    on_lost_placer(role);
  else if (role == schema::Role::PREFILL)
    on_lost(to_name<prefill_name>(news->getWho()), false,
            [](auto& where, auto& who) { return where.prefill == who; });
  else if (role == schema::Role::DECODE)
    on_lost(to_name<decode_name>(news->getWho()), true,
            [](auto& where, auto& who) { return where.decode == who; });
  else if (role == schema::Role::COUPLED)
    on_lost(to_name<coupled_name>(news->getWho()), true,
            [](auto& where, auto& who) { return where.coupled() == who; });
  if (!places)
    arrive_all(); // who has waited for this
  settle();
}

void gateway_state::arrive_all() {
  for (auto request :
       requests_.numbers_where([](const open_request& one) { return !one.is_sent; })) {
    deadlines_.take({waits_for::news, request});
    arrive(request, requests_.find(request)->second);
  }
}

/// What was not placed yet went with it, or is told by nobody any more.
void gateway_state::on_lost_placer(schema::Role role) {
  for (auto request : requests_.numbers_where(
         [](const open_request& one) { return one.is_sent && !one.where; }))
    place_again(request);
  if (role == schema::Role::CONDUCTOR)
    cancelled_.lost_conductor();
}

/// A cluster's are coupled, all of them, or none is.
template <class Name, class Is>
void gateway_state::on_lost(const Name& who, bool decodes, Is is_at) {
  constexpr bool coupled = std::is_same_v<Name, coupled_name>;
  for (auto request : requests_.numbers_where([&](const open_request& one) {
         return one.where && one.where->is_coupled == coupled && is_at(*one.where, who);
       }))
    on_lost_instance(request, decodes);
  cancelled_.lost(who);
}

/// Who decodes may go on without who prefilled, or says that it cannot.
void gateway_state::on_lost_instance(std::uint64_t request, bool decodes) {
  if (requests_.find(request)->second.answer_tokens == 0)
    return place_again(request);
  if (decodes)
    fail(request, actor_lost());
}

/// No token of it has reached the client.
void gateway_state::place_again(std::uint64_t request, bool at_once) {
  if (requests_.find(request)->second.attempts >= how_.attempts_max)
    return fail(request, actor_lost());
  auto one = close(request);
  cancelled_.begin(request, one);
  one.placing_at = desk_.now();
  ++one.attempts;
  probe_->placed_again();
  log_->debug("placed_again stream={} attempt={}", one.stream, one.attempts);
  place(std::move(one), at_once);
}

} // namespace perigee::gateway
