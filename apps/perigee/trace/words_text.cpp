#include "apps/perigee/trace/words_text.hpp"

#include <capnp/dynamic.h>
#include <capnp/serialize.h>
#include <fmt/format.h>

namespace perigee::app::trace {
namespace {

using capnp::DynamicStruct;
using capnp::DynamicValue;

constexpr std::uint64_t long_number = 1'000'000'000'000;

std::string text_of(const DynamicStruct::Reader& all, bool has_header);

/// Tickets and attempts count from an actor's tag: their end tells them apart.
std::string text_of(std::uint64_t x) {
  return x < long_number ? std::to_string(x) : fmt::format("~{:06x}", x & 0xffffff);
}

std::string span_text(double ns) {
  return ns >= 1e9 ? fmt::format("{:.4g}s", ns * 1e-9)
                   : fmt::format("{:.4g}ms", ns * 1e-6);
}

std::string text_of(const capnp::DynamicList::Reader& all) {
  auto of_structs = all.getSchema().whichElementType() == capnp::schema::Type::STRUCT;
  auto size = fmt::format("[{}]", all.size());
  if (!of_structs || all.size() != 1)
    return size;
  return size + "{" + text_of(all[0].as<DynamicStruct>(), false) + "}";
}

std::string text_of(std::string_view name, const DynamicValue::Reader& value) {
  bool is_span = name.ends_with("Ns");
  switch (value.getType()) {
    case DynamicValue::VOID: return {};
    case DynamicValue::BOOL: return value.as<bool>() ? "=yes" : "=no";
    case DynamicValue::INT: return fmt::format("={}", value.as<std::int64_t>());
    case DynamicValue::UINT: {
      auto x = value.as<std::uint64_t>();
      return '=' + (is_span ? span_text(static_cast<double>(x)) : text_of(x));
    }
    case DynamicValue::FLOAT: return fmt::format("={:.4g}", value.as<double>());
    case DynamicValue::ENUM: {
      auto one = value.as<capnp::DynamicEnum>();
      KJ_IF_MAYBE (known, one.getEnumerant())
        return fmt::format("={}", known->getProto().getName().cStr());
      return fmt::format("={}", one.getRaw());
    }
    case DynamicValue::LIST: return text_of(value.as<capnp::DynamicList>());
    case DynamicValue::STRUCT:
      return "{" + text_of(value.as<DynamicStruct>(), false) + "}";
    default: return "=...";
  }
}

/// Of an ActorName or an Asker: "3.0", "decode 3.0".
std::string name_text(const DynamicStruct::Reader& all) {
  if (all.getSchema().getShortDisplayName() == "Asker")
    return fmt::format("{} {}", text_of("role", all.get("role")).substr(1),
                       name_text(all.get("who").as<DynamicStruct>()));
  return fmt::format("{}.{}", all.get("node").as<std::uint32_t>(),
                     all.get("index").as<std::uint32_t>());
}

bool is_name(const DynamicValue::Reader& value) {
  if (value.getType() != DynamicValue::STRUCT)
    return false;
  auto type = value.as<DynamicStruct>().getSchema().getShortDisplayName();
  return type == "ActorName" || type == "Asker";
}

bool says_nothing(const DynamicValue::Reader& value) {
  if (value.getType() == DynamicValue::LIST)
    return value.as<capnp::DynamicList>().size() == 0;
  return value.getType() == DynamicValue::STRUCT && !is_name(value)
         && text_of(value.as<DynamicStruct>(), false).empty();
}

std::string text_of(const DynamicStruct::Reader& all, bool has_header) {
  std::string text;
  auto add = [&](capnp::StructSchema::Field field) {
    std::string name = field.getProto().getName().cStr();
    auto value = all.get(field);
    if (says_nothing(value))
      return;
    if (!text.empty())
      text += ' ';
    text += name;
    text += is_name(value) ? "=" + name_text(value.as<DynamicStruct>())
                           : text_of(name, value);
  };
  for (auto field : all.getSchema().getNonUnionFields())
    if (all.has(field, capnp::HasMode::NON_DEFAULT)
        && !(has_header && field.getIndex() == 0))
      add(field);
  if (all.getSchema().getUnionFields().size() > 0) {
    KJ_IF_MAYBE (chosen, all.which())
      add(*chosen);
  }
  return text;
}

} // namespace

std::string fields_of(const message_type& type, words_view words,
                      std::size_t length_max) {
  capnp::FlatArrayMessageReader flat{kj::arrayPtr(words.data(), words.size()),
                                     {~std::uint64_t{0}, 4 * nesting_max}};
  auto text = text_of(flat.getRoot<DynamicStruct>(type.schema), true);
  if (text.size() > length_max)
    text.replace(length_max - 3, std::string::npos, "...");
  return text;
}

} // namespace perigee::app::trace
