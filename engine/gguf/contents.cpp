#include "engine/gguf/head_reader.hpp"
#include "engine/gguf/nearest_name.hpp"

#include <optional>

namespace perigee::engine::gguf {
namespace {

std::string type_of(const value& it) {
  if (it.type != value_type::array)
    return name_of(it.type);
  return std::string("an array of ") + name_of(it.element);
}

const value* find_in(const std::map<std::string_view, value>& all,
                     std::string_view key) {
  auto it = all.find(key);
  return it == all.end() ? nullptr : &it->second;
}

bool is_real(value_type type) {
  return type == value_type::f32 || type == value_type::f64;
}

bool is_array_of(const value& it, bool (*fits)(value_type)) {
  return it.type == value_type::array && fits(it.element);
}

std::string shape_text(std::size_t columns, std::size_t rows) {
  return std::to_string(columns) + " x " + std::to_string(rows);
}

} // namespace

found<contents> contents::read(std::span<const std::byte> bytes, std::string name) {
  return head_reader(bytes, std::move(name)).read();
}

bad_input contents::no_key(std::string_view key) const {
  nearest_name near(key);
  for (const auto& [name, it] : values_)
    near.offer(name);
  return {file_fault::missing, name_, "the key '" + printable(key) + "'", near.take()};
}

bad_input contents::not_a(std::string_view key, const value& is,
                          const char* expected) const {
  return {file_fault::wrong_type, name_ + ": key '" + printable(key) + "'",
          std::string(expected) + ", found " + type_of(is), ""};
}

bool contents::has(std::string_view key) const {
  return values_.contains(key);
}

found<std::uint64_t> contents::number(std::string_view key) const {
  const auto* it = find_in(values_, key);
  if (it == nullptr)
    return failure(no_key(key));
  if (!is_integer(it->type))
    return failure(not_a(key, *it, "an integer"));
  if (it->integer() < 0)
    return failure(not_a(key, *it, "an integer that isn't negative"));
  return static_cast<std::uint64_t>(it->integer());
}

found<std::uint64_t> contents::number(std::string_view key,
                                      std::uint64_t fallback) const {
  return has(key) ? number(key) : fallback;
}

found<double> contents::real(std::string_view key) const {
  const auto* it = find_in(values_, key);
  if (it == nullptr)
    return failure(no_key(key));
  if (!is_real(it->type))
    return failure(not_a(key, *it, "f32 or f64"));
  return it->real();
}

found<double> contents::real(std::string_view key, double fallback) const {
  return has(key) ? real(key) : fallback;
}

found<bool> contents::flag(std::string_view key, bool fallback) const {
  const auto* it = find_in(values_, key);
  if (it == nullptr)
    return fallback;
  if (it->type != value_type::boolean)
    return failure(not_a(key, *it, "a boolean"));
  return it->integer() != 0;
}

found<std::string_view> contents::text(std::string_view key) const {
  const auto* it = find_in(values_, key);
  if (it == nullptr)
    return failure(no_key(key));
  if (it->type != value_type::string)
    return failure(not_a(key, *it, "a string"));
  return it->text();
}

found<std::string_view> contents::text(std::string_view key,
                                       std::string_view fallback) const {
  return has(key) ? text(key) : fallback;
}

found<std::span<const std::string_view>> contents::texts(std::string_view key) const {
  const auto* it = find_in(values_, key);
  if (it == nullptr)
    return failure(no_key(key));
  if (!is_array_of(*it, [](value_type type) { return type == value_type::string; }))
    return failure(not_a(key, *it, "an array of strings"));
  return std::span<const std::string_view>(it->strings);
}

found<std::vector<std::int64_t>> contents::numbers(std::string_view key) const {
  const auto* it = find_in(values_, key);
  if (it == nullptr)
    return failure(no_key(key));
  if (!is_array_of(*it, [](value_type type) { return is_integer(type); }))
    return failure(not_a(key, *it, "an array of integers"));
  std::vector<std::int64_t> all(it->count);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = it->integer(i);
  return all;
}

found<std::vector<float>> contents::reals(std::string_view key) const {
  const auto* it = find_in(values_, key);
  if (it == nullptr)
    return failure(no_key(key));
  if (!is_array_of(*it, is_real))
    return failure(not_a(key, *it, "an array of f32 or f64"));
  std::vector<float> all(it->count);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(it->real(i));
  return all;
}

const tensor* contents::find(std::string_view name) const {
  auto it = tensor_index_.find(name);
  return it == tensor_index_.end() ? nullptr : &tensors_[it->second];
}

found<const tensor*> contents::get(std::string_view name) const {
  if (const auto* it = find(name))
    return it;
  nearest_name near(name);
  for (const auto& one : tensors_)
    near.offer(one.name);
  return failure(bad_input{file_fault::missing, name_,
                           "the tensor '" + printable(name) + "'", near.take()});
}

found<const tensor*> contents::get(std::string_view name, std::size_t columns,
                                   std::size_t rows) const {
  auto it = get(name);
  if (it && ((*it)->columns() != columns || (*it)->rows() != rows))
    return failure(bad_input{file_fault::malformed,
                             name_ + ": tensor '" + printable(name) + "'",
                             shape_text(columns, rows) + ", found "
                               + shape_text((*it)->columns(), (*it)->rows()),
                             ""});
  return it;
}

} // namespace perigee::engine::gguf
