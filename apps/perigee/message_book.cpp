#include "apps/perigee/message_book.hpp"

#include "actors/interfaces.hpp"

#include <utility>

namespace perigee::app {
namespace {

template <class Any>
struct message_in {
  template <class Fn>
  static void call(Fn&) {} // a handle
};
template <class T>
struct message_in<Msg<T>> {
  template <class Fn>
  static void call(Fn& fn) {
    fn(capnp::StructSchema{capnp::Schema::from<T>()});
  }
};

template <class IdBlock, class Fn, std::size_t... Is>
void for_each_message_in(Fn fn, std::index_sequence<Is...>) {
  (message_in<typename caf::type_by_id<IdBlock::begin + Is>::type>::call(fn), ...);
}

} // namespace

message_book::message_book() {
  using ids = caf::id_block::perigee;
  for_each_message_in<ids>(
    [&](capnp::StructSchema schema) {
      types_.emplace(schema.getProto().getId(),
                     message_type{schema.getShortDisplayName().cStr(), schema,
                                  std::make_unique<judge>(schema)});
    },
    std::make_index_sequence<ids::end - ids::begin>{});
}

const message_type* message_book::find(std::uint64_t type) const {
  auto found = types_.find(type);
  return found == types_.end() ? nullptr : &found->second;
}

std::vector<capnp::StructSchema> message_book::schemas() const {
  std::vector<capnp::StructSchema> all;
  for (const auto& [id, one] : types_)
    all.push_back(one.schema);
  return all;
}

} // namespace perigee::app
