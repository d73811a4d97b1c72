#include "tests/fuzz/messages/whole.hpp"

#include "schemas/assert.hpp"

#include <cstdint>
#include <optional>

namespace perigee::test {
namespace {

using capnp::DynamicValue;

/// The only annotations of fields that are numbers are limits.
std::optional<std::uint64_t> limit_of(capnp::StructSchema::Field field) {
  for (auto note : field.getProto().getAnnotations()) {
    if (note.getValue().isUint32())
      return note.getValue().getUint32();
    if (note.getValue().isUint64())
      return note.getValue().getUint64();
  }
  return std::nullopt;
}

bool within(std::optional<std::uint64_t> limit, const DynamicValue::Reader& value) {
  switch (value.getType()) {
    case DynamicValue::UINT: return !limit || value.as<std::uint64_t>() <= *limit;
    case DynamicValue::LIST:
      return limit && value.as<capnp::DynamicList>().size() <= *limit;
    case DynamicValue::TEXT: return limit && value.as<capnp::Text>().size() <= *limit;
    case DynamicValue::DATA: return limit && value.as<capnp::Data>().size() <= *limit;
    default: return true;
  }
}

/// Keeps the reads of bytes that nobody needs.
volatile unsigned char last_byte;

template <class Bytes>
std::size_t read_bytes(const Bytes& bytes) {
  for (auto byte : bytes)
    last_byte = static_cast<unsigned char>(byte);
  return 1;
}

std::size_t read_value(const DynamicValue::Reader& value) {
  switch (value.getType()) {
    case DynamicValue::STRUCT: return read_whole(value.as<capnp::DynamicStruct>());
    case DynamicValue::LIST: {
      std::size_t values = 1;
      for (auto item : value.as<capnp::DynamicList>())
        values += read_value(item);
      return values;
    }
    case DynamicValue::TEXT: {
      auto text = value.as<capnp::Text>();
      PERIGEE_ASSERT(text.begin()[text.size()] == '\0', "a text without an end");
      return read_bytes(text);
    }
    case DynamicValue::DATA: return read_bytes(value.as<capnp::Data>());
    case DynamicValue::ENUM:
      PERIGEE_ASSERT(value.as<capnp::DynamicEnum>().getEnumerant() != nullptr,
                     "an enumerant nobody knows");
      return 1;
    default: return 1;
  }
}

std::size_t read_field(const capnp::DynamicStruct::Reader& all,
                       capnp::StructSchema::Field field) {
  auto value = all.get(field);
  PERIGEE_ASSERT(within(limit_of(field), value), "a value beyond its limit");
  return read_value(value);
}

} // namespace

std::size_t read_whole(const capnp::DynamicStruct::Reader& all) {
  std::size_t values = 1;
  for (auto field : all.getSchema().getNonUnionFields())
    values += read_field(all, field);
  if (all.getSchema().getUnionFields().size() == 0)
    return values;
  KJ_IF_MAYBE (chosen, all.which())
    values += read_field(all, *chosen);
  else
    PERIGEE_ASSERT(false, "a union member nobody knows");
  return values;
}

} // namespace perigee::test
