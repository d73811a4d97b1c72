/// \file
/// head_reader: reads the head of a GGUF file, trusting nothing.
#pragma once

#include "engine/gguf/gguf.hpp"

#include <concepts>
#include <cstring>

namespace perigee::engine::gguf {

inline constexpr std::uint64_t values_max = std::uint64_t{1} << 16;
inline constexpr std::uint64_t tensors_max = std::uint64_t{1} << 20;
inline constexpr std::uint64_t key_bytes_max = 65535;
inline constexpr std::uint64_t tensor_name_bytes_max = 255;
inline constexpr std::uint64_t alignment_min = 8; ///< The format's.
inline constexpr std::uint64_t alignment_max = std::uint64_t{1} << 20;
inline constexpr int array_depth_max = 4;

/// One pass over the bytes. Every count is held against the bytes that are left before
/// anything is allocated for it.
class head_reader {
public:
  head_reader(std::span<const std::byte> bytes, std::string name);

  found<contents> read();

private:
  struct counts {
    std::uint64_t tensors = 0;
    std::uint64_t values = 0;
  };

  template <class T>
  using read_result = result<T, bad_input>;

  read_result<counts> read_preamble();
  read_result<void> read_value();
  read_result<void> read_payload(value& into, const std::string& key);
  read_result<void> read_array(value& into, const std::string& key);
  read_result<void> read_strings(value& into, const std::string& key);
  read_result<void> skip_array(const std::string& key, int depth);
  read_result<value_type> read_type(const std::string& key);
  read_result<void> read_alignment();
  read_result<void> read_tensor();
  read_result<void> read_extents(tensor& into, const std::string& what);
  read_result<void> place_tensors();
  read_result<void> check_overlap();

  template <class T>
    requires std::integral<T> read_result<T> take(const std::string& what) {
      if (left() < sizeof(T))
        return failure(ends_in(what, sizeof(T)));
      T it;
      std::memcpy(&it, bytes_.data() + at_, sizeof(T));
      at_ += sizeof(T);
      return it;
    }

  read_result<std::string_view> take_text(const std::string& what, std::uint64_t max);
  read_result<std::span<const std::byte>>
  take_bytes(const std::string& what, std::uint64_t count, std::uint64_t each);

  std::size_t left() const {
    return bytes_.size() - at_;
  }

  bad_input wrong(const std::string& what, std::size_t at, std::string expected,
                  file_fault code = file_fault::malformed) const;
  bad_input ends_in(const std::string& what, std::uint64_t wanted) const;

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::uint64_t alignment_ = 32;
  std::vector<std::uint64_t> offsets_; // of tensors, as the file has them
  std::vector<std::size_t> places_;    // where the file says so
  contents into_;
};

} // namespace perigee::engine::gguf
