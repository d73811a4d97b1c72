/// \file
/// gguf_writer: makes GGUF files for tests, good and bad.
#pragma once

#include "engine/gguf/gguf.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace perigee::engine::gguf {

/// Little-endian bytes, one after the other.
class byte_writer {
public:
  template <class T>
  void put(T number) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    put_bytes(std::as_bytes(std::span{&number, 1}));
  }

  void put_bytes(std::span<const std::byte> raw) {
    all_.insert(all_.end(), raw.begin(), raw.end());
  }

  void put_text(std::string_view text) {
    put(std::uint64_t{text.size()});
    put_bytes(std::as_bytes(std::span{text}));
  }

  void pad(std::size_t alignment) {
    all_.resize((all_.size() + alignment - 1) / alignment * alignment);
  }

  const std::vector<std::byte>& all() const {
    return all_;
  }

private:
  std::vector<std::byte> all_;
};

/// Collects keys and tensors in order; `bytes()` is the file.
class gguf_writer {
public:
  explicit gguf_writer(std::uint32_t version = 3) : version_(version) {}

  gguf_writer& text(std::string_view key, std::string_view it) {
    begin(key, value_type::string).put_text(it);
    return *this;
  }

  gguf_writer& number(std::string_view key, std::uint32_t it) {
    return put(key, value_type::u32, it);
  }

  gguf_writer& real(std::string_view key, float it) {
    return put(key, value_type::f32, it);
  }

  gguf_writer& flag(std::string_view key, bool it) {
    return put(key, value_type::boolean, std::uint8_t{it});
  }

  /// Any type of fixed size; `it` has the type's size.
  template <class T>
  gguf_writer& put(std::string_view key, value_type type, T it) {
    begin(key, type).put(it);
    return *this;
  }

  gguf_writer& texts(std::string_view key, const std::vector<std::string>& all) {
    auto& to = begin_array(key, value_type::string, all.size());
    for (const auto& one : all)
      to.put_text(one);
    return *this;
  }

  template <class T>
  gguf_writer& array(std::string_view key, value_type element,
                     const std::vector<T>& all) {
    auto& to = begin_array(key, element, all.size());
    for (auto one : all)
      to.put(one);
    return *this;
  }

  /// Writes the key and the type; what follows is the caller's.
  byte_writer& begin(std::string_view key, value_type type) {
    ++values_;
    head_.put_text(key);
    head_.put(static_cast<std::uint32_t>(type));
    return head_;
  }

  byte_writer& begin_array(std::string_view key, value_type element,
                           std::uint64_t count) {
    auto& to = begin(key, value_type::array);
    to.put(static_cast<std::uint32_t>(element));
    to.put(count);
    return to;
  }

  /// To be called before tensors are added, in place of the key.
  gguf_writer& align(std::uint32_t alignment) {
    alignment_ = alignment;
    return number("general.alignment", alignment);
  }

  /// `extents` as in the file: columns first.
  gguf_writer& tensor(std::string_view name, tensor_type type,
                      const std::vector<std::uint64_t>& extents,
                      std::span<const std::byte> data) {
    data_.pad(alignment_);
    describe(name, static_cast<std::uint32_t>(type), extents, data_.all().size());
    data_.put_bytes(data);
    return *this;
  }

  /// Writes what the file says of a tensor, true or not.
  gguf_writer& describe(std::string_view name, std::uint32_t type,
                        const std::vector<std::uint64_t>& extents,
                        std::uint64_t offset) {
    ++tensors_;
    infos_.put_text(name);
    infos_.put(static_cast<std::uint32_t>(extents.size()));
    for (auto extent : extents)
      infos_.put(extent);
    infos_.put(type);
    infos_.put(offset);
    return *this;
  }

  std::vector<std::byte> bytes() const {
    byte_writer file;
    file.put_bytes(std::as_bytes(std::span{"GGUF", 4}));
    file.put(version_);
    file.put(tensors_);
    file.put(values_);
    file.put_bytes(head_.all());
    file.put_bytes(infos_.all());
    file.pad(alignment_);
    file.put_bytes(data_.all());
    return file.all();
  }

  void save(const std::string& path) const {
    auto all = bytes();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(all.data()),
               static_cast<std::streamsize>(all.size()));
  }

private:
  std::uint32_t version_;
  std::uint64_t tensors_ = 0;
  std::uint64_t values_ = 0;
  std::size_t alignment_ = 32;
  byte_writer head_;
  byte_writer infos_;
  byte_writer data_;
};

} // namespace perigee::engine::gguf
