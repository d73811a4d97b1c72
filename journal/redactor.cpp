#include "journal/redactor.hpp"

#include <capnp/any.h>
#include <capnp/schema.h>
#include <capnp/serialize.h>

#include <cstring>

namespace perigee::journal {
namespace {

// Their ids in schemas/limits.capnp; redactor_test.cpp notices if they part.
constexpr std::uint64_t token_ids_id = 0x86ca7c00fd381747;
constexpr std::uint64_t secret_id = 0xd5b1c07e9a43f826;

using struct_reader = capnp::AnyStruct::Reader;
using pointer_reader = capnp::AnyPointer::Reader;

/// What is to be wiped in one type of struct.
struct plan {
  struct step {
    enum class what { number, list, inside, inside_list, group };
    what it;
    std::uint32_t offset;     // of the number in words of 32 bits, or of the pointer
    const plan* of = nullptr; // of what is inside
    std::optional<std::uint16_t> if_chosen = {}; // of the union it is in
  };
  std::uint32_t discriminant_offset = 0;
  std::vector<step> steps;
};

/// The memory that readers read is ours, and is no constant.
void wipe(kj::ArrayPtr<const kj::byte> all) {
  if (all.size() > 0)
    std::memset(const_cast<kj::byte*>(all.begin()), 0, all.size());
}

std::uint16_t chosen_in(const plan& of, kj::ArrayPtr<const kj::byte> data) {
  auto at = std::size_t{of.discriminant_offset} * 2;
  if (at + 2 > data.size())
    return 0;
  return static_cast<std::uint16_t>(data[at] | (data[at + 1] << 8));
}

void apply(const plan& how, const struct_reader& to);

void apply(const plan::step& one, const pointer_reader& to) {
  if (to.isNull())
    return;
  switch (one.it) {
    case plan::step::what::list: return wipe(to.getAs<capnp::AnyList>().getRawBytes());
    case plan::step::what::inside: return apply(*one.of, to.getAs<capnp::AnyStruct>());
    default:
      for (auto item : to.getAs<capnp::AnyList>().as<capnp::List<capnp::AnyStruct>>())
        apply(*one.of, item);
  }
}

void apply(const plan& how, const struct_reader& to) {
  auto data = to.getDataSection();
  auto pointers = to.getPointerSection();
  for (const auto& one : how.steps) {
    if (one.if_chosen && chosen_in(how, data) != *one.if_chosen)
      continue;
    if (one.it == plan::step::what::group)
      apply(*one.of, to);
    else if (one.it != plan::step::what::number) {
      if (one.offset < pointers.size())
        apply(one, pointers[one.offset]);
    } else if (auto at = std::size_t{one.offset} * 4; at + 4 <= data.size())
      wipe(data.slice(at, at + 4));
  }
}

} // namespace

struct redactor::plan_book {
  takes taken;
  std::map<std::uint64_t, plan> by_type;

  const plan& draw_up(capnp::StructSchema type) {
    auto proto = type.getProto();
    auto [place, is_new] = by_type.try_emplace(proto.getId());
    if (!is_new) // entered first, so that a type may contain itself
      return place->second;
    auto& made = place->second;
    made.discriminant_offset = proto.getStruct().getDiscriminantOffset();
    for (auto field : type.getFields())
      if (auto step = step_for(field))
        made.steps.push_back(*step);
    return made;
  }

  std::optional<plan::step> step_for(capnp::StructSchema::Field field) {
    using what = plan::step::what;
    auto proto = field.getProto();
    auto step = step_at(field.getType(), is_marked(proto), proto);
    if (!step)
      return std::nullopt;
    if (proto.isGroup())
      step->it = what::group;
    if (proto.getDiscriminantValue() != capnp::schema::Field::NO_DISCRIMINANT)
      step->if_chosen = proto.getDiscriminantValue();
    return step;
  }

  std::optional<plan::step> step_at(capnp::Type type, bool marked,
                                    capnp::schema::Field::Reader proto) {
    using what = plan::step::what;
    auto offset = proto.isSlot() ? proto.getSlot().getOffset() : 0;
    if (marked)
      return plan::step{type.isUInt32() ? what::number : what::list, offset};
    auto inner = type.isList() ? type.asList().getElementType() : type;
    if (!inner.isStruct())
      return std::nullopt;
    const auto& inside = draw_up(inner.asStruct());
    if (inside.steps.empty())
      return std::nullopt;
    return plan::step{type.isList() ? what::inside_list : what::inside, offset,
                      &inside};
  }

  bool is_marked(capnp::schema::Field::Reader proto) const {
    for (auto note : proto.getAnnotations())
      if (note.getId() == secret_id
          || (note.getId() == token_ids_id && taken == takes::token_ids_too))
        return true;
    return false;
  }
};

redactor::redactor(std::span<const capnp::StructSchema> types, takes what) {
  auto book = std::make_unique<plan_book>(plan_book{what, {}});
  for (auto type : types)
    book->draw_up(type);
  plans_ = std::move(book);
}

redactor::~redactor() = default;

words_view redactor::redact(std::uint64_t type, words_view words,
                            std::vector<capnp::word>& scratch) const {
  auto found = plans_->by_type.find(type);
  if (found == plans_->by_type.end())
    return {};
  if (found->second.steps.empty())
    return words;
  scratch.assign(words.begin(), words.end());
  capnp::FlatArrayMessageReader copy{kj::arrayPtr(scratch.data(), scratch.size()),
                                     {~std::uint64_t{0}, 4 * nesting_max}};
  apply(found->second, copy.getRoot<capnp::AnyStruct>());
  return scratch;
}

} // namespace perigee::journal
