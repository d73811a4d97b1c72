#include "actors/gateway/cancellations.hpp"

#include "schemas/convert.hpp"

namespace perigee::gateway {

void cancellations::begin(std::uint64_t request, const open_request& one) {
  cancelled rest{.why = one.why(), .where = one.where};
  conductor_name conductor{control_, 0};
  if (one.where) {
    tell_instances(request, rest);
    rest.conductor = tell(conductor, request, rest.why);
  } else if (one.is_sent) { // the conductor may have it, whether or not the rejector
    rest.conductor = tell(rejector_name{control_, 0}, request, rest.why)
                     || tell(conductor, request, rest.why);
  }
  remember(request, rest);
}

template <class Name>
bool cancellations::tell(const Name& whom, std::uint64_t request,
                         const rt::cause& why) {
  return desk_.tell<schema::Cancel>(whom, why, [&](schema::Cancel::Builder wish) {
    wish.setRequest(request);
    set_name(wish.initGateway(), desk_.me());
  });
}

void cancellations::tell_instances(std::uint64_t request, cancelled& one) {
  if (one.where->is_coupled) {
    one.prefill = tell(one.where->coupled(), request, one.why);
    return;
  }
  one.prefill = tell(one.where->prefill, request, one.why);
  one.decode = tell(one.where->decode, request, one.why);
}

void cancellations::remember(std::uint64_t request, const cancelled& one) {
  if (one.is_over())
    return;
  if (is_full())
    return probe_.never_acknowledged();
  all_.emplace(request, one);
  keep_until(deadlines_, {waits_for::cancelled, request}, desk_.now() + limit_);
}

auto cancellations::forget(table::iterator which) -> table::iterator {
  deadlines_.take({waits_for::cancelled, which->first});
  return all_.erase(which);
}

bool cancellations::hear(const Msg<schema::Placed>& said) {
  auto request = said->getRequest();
  auto known = all_.find(request);
  if (known != all_.end() && known->second.where)
    return false;
  if (said->which() != schema::Placed::PLACED) {
    if (known == all_.end())
      return false;
    forget(known);
    return true;
  }
  cancelled rest{.why = said, .where = {}};
  if (known != all_.end()) {
    rest = known->second; // the conductor's word is still to come
    forget(known);
  }
  rest.where = to_placement(said->getPlaced());
  tell_instances(request, rest);
  remember(request, rest);
  return true;
}

bool cancellations::hear(const Msg<schema::Cancelled>& said) {
  auto found = all_.find(said->getRequest());
  if (found == all_.end() || !is_acknowledged(found->second, said))
    return false;
  if (found->second.is_over())
    forget(found);
  return true;
}

bool cancellations::is_acknowledged(cancelled& one,
                                    const Msg<schema::Cancelled>& said) {
  auto end = [](bool& waits) { return std::exchange(waits, false); };
  switch (said->getBy()) {
    case schema::Role::REJECTOR: // there is no conductor
      return desk_.is_from(rejector_name{control_, 0}, said) && end(one.conductor);
    case schema::Role::CONDUCTOR:
      return desk_.is_from(conductor_name{control_, 0}, said) && end(one.conductor);
    case schema::Role::PREFILL:
      return one.where && desk_.is_from(one.where->prefill, said) && end(one.prefill);
    case schema::Role::DECODE:
      return one.where && desk_.is_from(one.where->decode, said) && end(one.decode);
    case schema::Role::COUPLED:
      return one.where && desk_.is_from(one.where->coupled(), said) && end(one.prefill);
    default: return false;
  }
}

template <class Change>
void cancellations::change_all(Change change) {
  for (auto one = all_.begin(); one != all_.end();) {
    change(one->second);
    one = one->second.is_over() ? forget(one) : std::next(one);
  }
}

void cancellations::lost_conductor() {
  change_all([](cancelled& one) { one.conductor = false; });
}

void cancellations::lost(const prefill_name& who) {
  change_all([&](cancelled& one) {
    one.prefill = one.prefill && (one.where->is_coupled || one.where->prefill != who);
  });
}

void cancellations::lost(const coupled_name& who) {
  change_all([&](cancelled& one) {
    one.prefill
      = one.prefill && !(one.where->is_coupled && one.where->coupled() == who);
  });
}

void cancellations::lost(const decode_name& who) {
  change_all(
    [&](cancelled& one) { one.decode = one.decode && one.where->decode != who; });
}

void cancellations::expire(std::uint64_t request) {
  probe_.never_acknowledged();
  all_.erase(request);
}

} // namespace perigee::gateway
