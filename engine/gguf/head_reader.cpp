#include "engine/gguf/head_reader.hpp"

#include "engine/gguf/nearest_name.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace perigee::engine::gguf {
namespace {

constexpr std::uint32_t magic = 0x46554747; // "GGUF", little-endian
constexpr std::string_view alignment_key = "general.alignment";

static_assert(std::endian::native == std::endian::little,
              "values are copied from the file as they are");

bool overflows(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b;
}

std::string quoted(const char* kind, std::string_view name) {
  return std::string(kind) + " '" + printable(name) + "'";
}

} // namespace

head_reader::head_reader(std::span<const std::byte> bytes, std::string name)
  : bytes_(bytes) {
  into_.name_ = std::move(name);
}

bad_input head_reader::wrong(const std::string& what, std::size_t at,
                             std::string expected, file_fault code) const {
  return {code, into_.name_ + ": " + what + ", byte " + std::to_string(at),
          std::move(expected), ""};
}

bad_input head_reader::ends_in(const std::string& what, std::uint64_t wanted) const {
  return wrong(what, at_,
               std::to_string(wanted) + " bytes, but the file ends after "
                 + std::to_string(left()));
}

found<std::string_view> head_reader::take_text(const std::string& what,
                                               std::uint64_t max) {
  auto begin = at_;
  auto size = take<std::uint64_t>(what);
  if (!size)
    return failure(size.error());
  if (*size > max)
    return failure(wrong("length of the " + what, begin,
                         "at most " + std::to_string(max) + " bytes, found "
                           + std::to_string(*size)));
  if (*size > left())
    return failure(ends_in(what, *size));
  std::string_view text{reinterpret_cast<const char*>(bytes_.data()) + at_, *size};
  at_ += *size;
  return text;
}

found<std::span<const std::byte>> head_reader::take_bytes(const std::string& what,
                                                          std::uint64_t count,
                                                          std::uint64_t each) {
  if (count > left() / each)
    return failure(wrong(what, at_,
                         std::to_string(count) + " elements of " + std::to_string(each)
                           + " bytes, but the file ends after "
                           + std::to_string(left())));
  auto raw = bytes_.subspan(at_, count * each);
  at_ += raw.size();
  return raw;
}

found<contents> head_reader::read() {
  auto count = read_preamble();
  if (!count)
    return failure(count.error());
  for (std::uint64_t i = 0; i < count->values; ++i)
    if (auto done = read_value(); !done)
      return failure(done.error());
  if (auto done = read_alignment(); !done)
    return failure(done.error());
  for (std::uint64_t i = 0; i < count->tensors; ++i)
    if (auto done = read_tensor(); !done)
      return failure(done.error());
  if (auto done = place_tensors(); !done)
    return failure(done.error());
  if (auto done = check_overlap(); !done)
    return failure(done.error());
  return std::move(into_);
}

found<head_reader::counts> head_reader::read_preamble() {
  auto word = take<std::uint32_t>("magic");
  if (!word)
    return failure(word.error());
  if (*word != magic)
    return failure(wrong("magic", 0, "\"GGUF\": this is not a GGUF file"));
  auto version = take<std::uint32_t>("version");
  if (!version)
    return failure(version.error());
  if (*version != 2 && *version != 3) {
    auto swapped = (*version & 0xffff) == 0 && *version != 0;
    return failure(wrong("version", 4,
                         swapped ? "little-endian numbers, found big-endian ones"
                                 : "2 or 3, found " + std::to_string(*version),
                         file_fault::unsupported));
  }
  into_.version_ = *version;
  auto tensors = take<std::uint64_t>("number of tensors");
  if (!tensors)
    return failure(tensors.error());
  if (*tensors > tensors_max)
    return failure(wrong("number of tensors", 8,
                         "at most " + std::to_string(tensors_max) + ", found "
                           + std::to_string(*tensors)));
  auto values = take<std::uint64_t>("number of keys");
  if (!values)
    return failure(values.error());
  if (*values > values_max)
    return failure(wrong("number of keys", 16,
                         "at most " + std::to_string(values_max) + ", found "
                           + std::to_string(*values)));
  return counts{*tensors, *values};
}

found<void> head_reader::read_value() {
  auto begin = at_;
  auto name = take_text("key", key_bytes_max);
  if (!name)
    return failure(name.error());
  auto what = quoted("key", *name);
  if (name->empty())
    return failure(wrong(what, begin, "a name"));
  if (into_.values_.contains(*name))
    return failure(wrong(what, begin, "each key once"));
  auto type = read_type(what);
  if (!type)
    return failure(type.error());
  value it;
  it.type = *type;
  if (auto done = read_payload(it, what); !done)
    return done;
  into_.values_.emplace(*name, std::move(it));
  return {};
}

found<value_type> head_reader::read_type(const std::string& what) {
  auto begin = at_;
  auto code = take<std::uint32_t>("type of " + what);
  if (!code)
    return failure(code.error());
  if (*code >= value_types)
    return failure(
      wrong("type of " + what, begin, "0 to 12, found " + std::to_string(*code)));
  return static_cast<value_type>(*code);
}

found<void> head_reader::read_payload(value& into, const std::string& what) {
  if (into.type == value_type::array)
    return read_array(into, what);
  if (into.type == value_type::string) {
    auto text = take_text("string of " + what, left());
    if (!text)
      return failure(text.error());
    into.raw = std::as_bytes(std::span{*text});
    return {};
  }
  auto begin = at_;
  auto raw = take_bytes(what, 1, bytes_of(into.type));
  if (!raw)
    return failure(raw.error());
  into.raw = *raw;
  if (into.type == value_type::boolean && into.integer() > 1)
    return failure(wrong(what, begin, "a boolean, 0 or 1"));
  return {};
}

found<void> head_reader::read_array(value& into, const std::string& what) {
  auto element = read_type("an element of " + what);
  if (!element)
    return failure(element.error());
  auto count = take<std::uint64_t>("length of " + what);
  if (!count)
    return failure(count.error());
  into.element = *element;
  into.count = *count;
  if (into.element == value_type::string)
    return read_strings(into, what);
  if (into.element == value_type::array) {
    auto begin = at_;
    for (std::uint64_t i = 0; i < *count; ++i)
      if (auto done = skip_array(what, 2); !done)
        return done;
    into.raw = bytes_.subspan(begin, at_ - begin);
    return {};
  }
  auto raw = take_bytes(what, *count, bytes_of(into.element));
  if (!raw)
    return failure(raw.error());
  into.raw = *raw;
  return {};
}

found<void> head_reader::read_strings(value& into, const std::string& what) {
  constexpr std::uint64_t least = sizeof(std::uint64_t); // an empty one's length
  if (into.count > left() / least)
    return failure(
      ends_in(what, into.count > left() ? into.count : into.count * least));
  into.strings.reserve(into.count);
  auto one = "string of " + what;
  for (std::uint64_t i = 0; i < into.count; ++i) {
    auto text = take_text(one, left());
    if (!text)
      return failure(text.error());
    into.strings.push_back(*text);
  }
  return {};
}

found<void> head_reader::skip_array(const std::string& what, int depth) {
  if (depth > array_depth_max)
    return failure(
      wrong(what, at_, "arrays at most " + std::to_string(array_depth_max) + " deep"));
  auto element = read_type("an element of " + what);
  if (!element)
    return failure(element.error());
  auto count = take<std::uint64_t>("length of " + what);
  if (!count)
    return failure(count.error());
  if (auto size = bytes_of(*element); size != 0) {
    auto raw = take_bytes(what, *count, size);
    return raw ? found<void>{} : failure(raw.error());
  }
  for (std::uint64_t i = 0; i < *count; ++i) {
    if (*element == value_type::array) {
      if (auto done = skip_array(what, depth + 1); !done)
        return done;
    } else if (auto text = take_text("string of " + what, left()); !text) {
      return failure(text.error());
    }
  }
  return {};
}

found<void> head_reader::read_alignment() {
  auto said = into_.number(alignment_key, alignment_);
  if (!said)
    return failure(said.error());
  if (!std::has_single_bit(*said) || *said < alignment_min || *said > alignment_max)
    return failure(bad_input{file_fault::malformed,
                             into_.name_ + ": " + quoted("key", alignment_key),
                             "a power of two, 8 to " + std::to_string(alignment_max)
                               + ", found " + std::to_string(*said),
                             ""});
  alignment_ = *said;
  return {};
}

found<void> head_reader::read_tensor() {
  auto begin = at_;
  auto name = take_text("name of a tensor", tensor_name_bytes_max);
  if (!name)
    return failure(name.error());
  auto what = quoted("tensor", *name);
  if (name->empty())
    return failure(wrong(what, begin, "a name"));
  if (!into_.tensor_index_.emplace(*name, into_.tensors_.size()).second)
    return failure(wrong(what, begin, "each tensor once"));
  tensor it;
  it.name = *name;
  if (auto done = read_extents(it, what); !done)
    return done;
  auto type_at = at_;
  auto code = take<std::uint32_t>("type of " + what);
  if (!code)
    return failure(code.error());
  auto type = known_type(*code);
  if (!type)
    return failure(wrong(what, type_at,
                         "one of F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, "
                         "Q5_K, Q6_K, found "
                           + type_text(*code),
                         file_fault::unsupported));
  it.type = *type;
  if (auto unit = shape_of(*type).elements; it.columns() % unit != 0)
    return failure(wrong(what, type_at,
                         std::string(name_of(*type)) + " rows of whole blocks of "
                           + std::to_string(unit) + ", found "
                           + std::to_string(it.columns())));
  auto offset = take<std::uint64_t>("offset of " + what);
  if (!offset)
    return failure(offset.error());
  into_.tensors_.push_back(it);
  offsets_.push_back(*offset);
  places_.push_back(at_ - sizeof(std::uint64_t));
  return {};
}

found<void> head_reader::read_extents(tensor& into, const std::string& what) {
  auto begin = at_;
  auto dimensions = take<std::uint32_t>("dimensions of " + what);
  if (!dimensions)
    return failure(dimensions.error());
  if (*dimensions > into.extent.size())
    return failure(wrong("dimensions of " + what, begin,
                         "at most 4, found " + std::to_string(*dimensions)));
  into.dimensions = *dimensions;
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < *dimensions; ++i) {
    begin = at_;
    auto extent = take<std::uint64_t>("extents of " + what);
    if (!extent)
      return failure(extent.error());
    // No number takes more than 8 bytes: later products of bytes can't overflow either.
    if (*extent == 0 || overflows(*extent, elements)
        || overflows(*extent * elements, 8))
      return failure(wrong("extent " + std::to_string(i) + " of " + what, begin,
                           "a number of elements that fits into the file, found "
                             + std::to_string(*extent)));
    elements *= *extent;
    into.extent[i] = *extent;
  }
  return {};
}

found<void> head_reader::place_tensors() {
  // Without tensors there need be no padding either.
  auto gap = (alignment_ - at_ % alignment_) % alignment_;
  if (into_.tensors_.empty())
    return {};
  if (gap > left())
    return failure(ends_in("padding before the tensors", gap));
  auto data = bytes_.subspan(at_ + gap);
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    auto& it = into_.tensors_[i];
    auto what = quoted("tensor", it.name);
    if (offsets_[i] % alignment_ != 0)
      return failure(wrong(what, places_[i],
                           "an offset that is a multiple of "
                             + std::to_string(alignment_) + ", found "
                             + std::to_string(offsets_[i])));
    auto size = bytes_of(shape_of(it.type), it.columns() * it.rows());
    if (offsets_[i] > data.size() || size > data.size() - offsets_[i])
      return failure(wrong(what, places_[i],
                           std::to_string(size) + " bytes at offset "
                             + std::to_string(offsets_[i]) + ", but there are only "
                             + std::to_string(data.size()) + " bytes of tensors"));
    it.data = data.subspan(offsets_[i], size);
  }
  return {};
}

found<void> head_reader::check_overlap() {
  std::vector<std::size_t> order(offsets_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return offsets_[i]; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const auto& before = into_.tensors_[order[i - 1]];
    if (offsets_[order[i - 1]] + before.data.size() > offsets_[order[i]])
      return failure(
        wrong(quoted("tensor", into_.tensors_[order[i]].name), places_[order[i]],
              "bytes of its own, but it overlaps " + quoted("tensor", before.name)));
  }
  return {};
}

} // namespace perigee::engine::gguf
