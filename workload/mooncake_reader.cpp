#include "workload/mooncake_reader.hpp"

#include <boost/json.hpp>

#include <cmath>

namespace perigee::workload {
namespace {

namespace json = boost::json;

std::string upto(const char* what, std::uint64_t lowest, std::uint64_t highest) {
  return std::string{what} + " from " + std::to_string(lowest) + " to "
         + std::to_string(highest);
}

std::string shown(const json::value& value) {
  if (value.is_object())
    return "an object";
  if (value.is_array())
    return "a list";
  return json::serialize(value);
}

result<const json::value*, complaint> field(const json::object& in, const char* name,
                                            const char* expected, const place& at) {
  const auto* found = in.if_contains(name);
  if (found == nullptr)
    return failure(at.wrong(cause::missing, name, "nothing", expected));
  return found;
}

/// A whole number, which may be written 3.0.
result<std::uint64_t, complaint> whole(const json::value& value, const char* name,
                                       std::uint64_t lowest, std::uint64_t highest,
                                       const place& at) {
  constexpr double exact_max = 9007199254740992.0; // 2^53: whole up to here
  auto expected = upto("a whole number", lowest, highest);
  if (!value.is_number())
    return failure(at.wrong(cause::wrong_type, name, shown(value), expected));
  std::uint64_t got = 0;
  bool is_within = true;
  if (const auto* negative = value.if_int64()) {
    is_within = *negative >= 0;
    got = is_within ? static_cast<std::uint64_t>(*negative) : 0;
  } else if (const auto* large = value.if_uint64()) {
    got = *large;
  } else {
    double real = value.get_double();
    if (std::abs(real) <= exact_max && real != std::floor(real))
      return failure(at.wrong(cause::wrong_type, name, shown(value), expected));
    is_within = real >= 0 && real <= exact_max;
    got = is_within ? static_cast<std::uint64_t>(real) : 0;
  }
  if (!is_within || got < lowest || got > highest)
    return failure(at.wrong(cause::out_of_range, name, shown(value), expected));
  return got;
}

result<std::uint32_t, complaint> length(const json::object& in, const char* name,
                                        const place& at) {
  auto found = field(in, name, "a whole number of tokens", at);
  if (!found)
    return failure(found.error());
  auto got = whole(**found, name, 1, tokens_max, at);
  if (!got)
    return failure(got.error());
  return static_cast<std::uint32_t>(*got);
}

constexpr auto ms_max
  = std::chrono::duration_cast<std::chrono::milliseconds>(arrival_max).count();

/// Milliseconds, of which traces by others have fractions.
result<std::chrono::nanoseconds, complaint>
milliseconds(const json::value& value, const char* name, const place& at) {
  auto expected = upto("milliseconds", 0, ms_max);
  if (!value.is_number())
    return failure(at.wrong(cause::wrong_type, name, shown(value), expected));
  double ms = value.to_number<double>();
  if (!(ms >= 0 && ms <= static_cast<double>(ms_max)))
    return failure(at.wrong(cause::out_of_range, name, shown(value), expected));
  if (const auto* exact = value.if_int64())
    return std::chrono::nanoseconds{std::chrono::milliseconds{*exact}};
  return std::chrono::nanoseconds{std::llround(ms * 1e6)};
}

result<std::vector<std::uint64_t>, complaint>
block_ids(const json::object& in, std::uint32_t input_tokens, const place& at) {
  constexpr auto name = "hash_ids";
  auto expected = std::to_string(blocks_of(input_tokens)) + " ids, for "
                  + std::to_string(input_tokens) + " tokens in blocks of 512";
  auto found = field(in, name, expected.c_str(), at);
  if (!found)
    return failure(found.error());
  const auto* list = (*found)->if_array();
  if (list == nullptr)
    return failure(at.wrong(cause::wrong_type, name, shown(**found), expected));
  if (list->size() != blocks_of(input_tokens))
    return failure(at.wrong(cause::wrong_blocks, name,
                            std::to_string(list->size()) + " ids", expected));
  std::vector<std::uint64_t> ids;
  ids.reserve(list->size());
  for (const auto& one : *list) {
    auto id = whole(one, name, 0, UINT64_MAX, at);
    if (!id)
      return failure(id.error());
    ids.push_back(*id);
  }
  return ids;
}

result<std::chrono::nanoseconds, complaint> timestamp(const json::object& in,
                                                      const place& at) {
  constexpr auto name = "timestamp";
  auto found = field(in, name, upto("milliseconds", 0, ms_max).c_str(), at);
  if (!found)
    return failure(found.error());
  return milliseconds(**found, name, at);
}

/// Which session's turn it is, and what it waits for. Nothing if nothing is wrong.
std::optional<complaint> read_turn(const json::object& in, const place& at,
                                   request& into) {
  constexpr auto session_name = "session_id";
  constexpr auto think_name = "think_ms";
  if (const auto* said = in.if_contains(session_name)) {
    auto session = whole(*said, session_name, 0, UINT64_MAX, at);
    if (!session)
      return session.error();
    into.session = *session;
  }
  if (const auto* said = in.if_contains(think_name)) {
    auto think = milliseconds(*said, think_name, at);
    if (!think)
      return think.error();
    into.think = *think;
    if (!into.session)
      return at.wrong(cause::missing, session_name, "nothing",
                      "whose turn it is that waits for an answer, as think_ms says");
  }
  return std::nullopt;
}

result<request, complaint> request_of(const json::object& in, const place& at) {
  request got;
  auto arrival = timestamp(in, at);
  if (!arrival)
    return failure(arrival.error());
  auto input = length(in, "input_length", at);
  if (!input)
    return failure(input.error());
  auto output = length(in, "output_length", at);
  if (!output)
    return failure(output.error());
  auto ids = block_ids(in, *input, at);
  if (!ids)
    return failure(ids.error());
  if (auto wrong = read_turn(in, at, got))
    return failure(*wrong);
  got.arrival = *arrival;
  got.input_tokens = *input;
  got.output_tokens = *output;
  got.block_ids = std::move(*ids);
  return got;
}

} // namespace

/// Keeps its memory from line to line.
struct mooncake_reader::parser {
  std::vector<unsigned char> room = std::vector<unsigned char>(std::size_t{64} << 10);

  result<request, complaint> read(const std::string& line, const place& at) {
    json::monotonic_resource memory{room.data(), room.size()};
    json::error_code code;
    auto value = json::parse(line, code, &memory);
    if (code)
      return failure(at.wrong(cause::malformed, "", "no JSON (" + code.message() + ")",
                              "an object with timestamp, input_length, "
                              "output_length and hash_ids"));
    const auto* object = value.if_object();
    if (object == nullptr)
      return failure(at.wrong(cause::malformed, "", shown(value),
                              "an object with timestamp, input_length, "
                              "output_length and hash_ids"));
    return request_of(*object, at);
  }
};

mooncake_reader::mooncake_reader(std::istream& from, std::string file, strictness how)
  : line_source{from, std::move(file), how, "one JSON object a line"},
    parser_{std::make_unique<parser>()} {}

mooncake_reader::~mooncake_reader() = default;

next_request mooncake_reader::read_line() {
  auto got = parser_->read(line(), here());
  if (!got)
    return failure(got.error());
  if (got->arrival < latest())
    return failure(here().wrong(cause::out_of_order, "timestamp",
                                std::to_string(got->arrival.count() / 1'000'000),
                                std::to_string(latest().count() / 1'000'000)
                                  + " or more, as in the line above"));
  return std::optional{std::move(*got)};
}

} // namespace perigee::workload
