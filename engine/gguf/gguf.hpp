/// \file
/// gguf: reads model files (GGUF, versions 2 and 3).
#pragma once

#include "engine/gguf/bad_input.hpp"
#include "engine/gguf/tensor_type.hpp"
#include "engine/gguf/value.hpp"
#include "schemas/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perigee::engine::gguf {

template <class T>
using found = result<T, bad_input>;

/// A matrix, vector or stack of matrices. Views into the file.
struct tensor {
  std::string_view name;
  tensor_type type = tensor_type::f32;

  /// As ggml orders them, fastest first: a matrix [out][in] has {in, out, 1, 1}.
  std::array<std::size_t, 4> extent{1, 1, 1, 1};
  std::uint32_t dimensions = 0; ///< 0 to 4; the extents beyond are 1.
  std::span<const std::byte> data;

  std::size_t columns() const {
    return extent[0];
  }

  /// All rows of `columns()` numbers.
  std::size_t rows() const {
    return extent[1] * extent[2] * extent[3];
  }
};

/// What a file says, each field checked: magic, version, counts, lengths, types,
/// alignment, duplicate names, and that every tensor lies aligned inside the file and
/// shares no byte with another. Views into the bytes it was read from.
///
/// A `real`, `number`, ... fails with `missing`, naming the key and the nearest one, or
/// with `wrong_type`. The forms with a fallback take it when the key is absent, and
/// fail when it is there with another type.
class contents {
public:
  /// Reads the head of a file. `bytes` must outlive what comes back, and be aligned as
  /// memory mappings are. `name` is for the errors. Big-endian files are refused.
  /// Takes time and memory in proportion to the head, however hostile.
  static found<contents> read(std::span<const std::byte> bytes, std::string name);

  std::uint32_t version() const {
    return version_;
  }

  /// The file's, as given to read().
  const std::string& name() const {
    return name_;
  }

  const std::map<std::string_view, value>& values() const {
    return values_;
  }

  const std::vector<tensor>& tensors() const {
    return tensors_;
  }

  bool has(std::string_view key) const;

  /// Any integer type; a negative one is of the wrong type.
  found<std::uint64_t> number(std::string_view key) const;
  found<std::uint64_t> number(std::string_view key, std::uint64_t fallback) const;

  /// F32 or F64.
  found<double> real(std::string_view key) const;
  found<double> real(std::string_view key, double fallback) const;

  found<bool> flag(std::string_view key, bool fallback) const;

  /// Any bytes: nothing promises UTF-8.
  found<std::string_view> text(std::string_view key) const;
  found<std::string_view> text(std::string_view key, std::string_view fallback) const;

  /// An array of strings.
  found<std::span<const std::string_view>> texts(std::string_view key) const;

  /// An array of any integer type.
  found<std::vector<std::int64_t>> numbers(std::string_view key) const;

  /// An array of F32 or F64.
  found<std::vector<float>> reals(std::string_view key) const;

  /// Null if there is none.
  const tensor* find(std::string_view name) const;

  /// The tensor, or `missing`.
  found<const tensor*> get(std::string_view name) const;

  /// As above, and of these extents; else `malformed`, naming both shapes.
  found<const tensor*> get(std::string_view name, std::size_t columns,
                           std::size_t rows) const;

private:
  friend class head_reader;

  bad_input no_key(std::string_view key) const;
  bad_input not_a(std::string_view key, const value& is, const char* expected) const;

  std::string name_;
  std::uint32_t version_ = 0;
  std::map<std::string_view, value> values_;
  std::vector<tensor> tensors_;
  std::map<std::string_view, std::size_t> tensor_index_;
};

/// A file that is mapped into memory, read-only, for as long as somebody holds it. All
/// engines of one model share one.
///
/// Whoever truncates a mapped file ends us with SIGBUS, as with any mapping: model
/// files are replaced by renaming, not written in place.
class file : public contents {
public:
  static found<std::shared_ptr<const file>> open(const std::string& path);

  ~file();
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  std::span<const std::byte> bytes() const {
    return bytes_;
  }

  /// SHA-256 over the SHA-256 of every 16 MiB of the file, head and weights: whatever
  /// changes a number changes the digest. Reads the whole file (about 1 GB/s a core)
  /// when first asked, on up to four threads, and remembers. Thread-safe.
  const std::array<std::byte, 32>& digest() const;

  /// Tells the kernel that the pages of `data` will not be needed for now, so that they
  /// don't count as ours. They come back from disk when read again.
  void release(std::span<const std::byte> data) const;

private:
  struct memo;

  file(std::span<const std::byte> bytes, contents said);

  std::span<const std::byte> bytes_;
  std::unique_ptr<memo> memo_;
};

} // namespace perigee::engine::gguf
