#include "actors/gateway/json_reader.hpp"

#include "actors/gateway/api_request.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace perigee::gateway {
namespace {

namespace json = boost::json;
using boost::system::error_code;
using part = json::string_view;

/// Builds what the parser reads, and keeps the names of the objects that are open: the
/// parser of Boost.JSON would take the last of two.
class builder {
public:
  static constexpr std::size_t max_object_size = names_max;
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  builder() {
    values_.reset();
  }

  json::value release() {
    return values_.release();
  }

  /// The name that came twice; empty if none did.
  const std::string& repeated() const {
    return repeated_;
  }

  // -- what the parser calls ----------------------------------------------------

  bool on_document_begin(error_code&) {
    return true;
  }
  bool on_document_end(error_code&) {
    return true;
  }
  bool on_object_begin(error_code&) {
    names_.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t size, error_code&) {
    names_.pop_back();
    values_.push_object(size);
    return true;
  }
  bool on_array_begin(error_code&) {
    return true;
  }
  bool on_array_end(std::size_t size, error_code&) {
    values_.push_array(size);
    return true;
  }
  bool on_key_part(part text, std::size_t, error_code&) {
    name_.append(text.data(), text.size());
    values_.push_chars(text);
    return true;
  }
  bool on_key(part text, std::size_t, error_code& error) {
    name_.append(text.data(), text.size());
    values_.push_key(text);
    auto name = std::exchange(name_, {});
    if (names_.back().insert(name).second)
      return true;
    repeated_ = std::move(name);
    error = json::error::extra_data; // any will do
    return false;
  }
  bool on_string_part(part text, std::size_t, error_code&) {
    values_.push_chars(text);
    return true;
  }
  bool on_string(part text, std::size_t, error_code&) {
    values_.push_string(text);
    return true;
  }
  bool on_number_part(part, error_code&) {
    return true;
  }
  bool on_int64(std::int64_t number, part, error_code&) {
    values_.push_int64(number);
    return true;
  }
  bool on_uint64(std::uint64_t number, part, error_code&) {
    values_.push_uint64(number);
    return true;
  }
  bool on_double(double number, part, error_code&) {
    values_.push_double(number);
    return true;
  }
  bool on_bool(bool value, error_code&) {
    values_.push_bool(value);
    return true;
  }
  bool on_null(error_code&) {
    values_.push_null();
    return true;
  }
  bool on_comment_part(part, error_code&) {
    return true;
  }
  bool on_comment(part, error_code&) {
    return true;
  }

private:
  json::value_stack values_;
  std::vector<std::set<std::string>> names_; // of each object that is open
  std::string name_;                         // as far as it was read
  std::string repeated_;
};

api_error no_json(const std::string& why) {
  return {api_code::invalid_json, "the body must be JSON in UTF-8: " + why, "", {}};
}

api_error given_twice(std::string name) {
  name.resize(std::min<std::size_t>(name.size(), 64));
  return {api_code::invalid_value, "`" + name + "` must not be given twice", name, {}};
}

} // namespace

api_result<json::object> read_object(std::string_view body) {
  json::parse_options how;
  how.max_depth = body_depth_max;
  error_code error;
  json::basic_parser<builder> parser{how};
  auto read = parser.write_some(false, body.data(), body.size(), error);
  auto& built = parser.handler();
  if (error && !built.repeated().empty())
    return failure(given_twice(built.repeated()));
  if (!error && read < body.size())
    error = json::error::extra_data;
  if (error == json::error::too_deep)
    return failure(
      no_json("nests deeper than " + std::to_string(body_depth_max) + " levels"));
  if (error == json::error::object_too_large)
    return failure(
      no_json("an object has more than " + std::to_string(names_max) + " names"));
  if (error)
    return failure(no_json(error.message() + " at byte " + std::to_string(read)));
  auto all = built.release();
  if (!all.is_object())
    return failure(
      api_error{api_code::invalid_json, "the body must be a JSON object", "", {}});
  return std::move(all.get_object());
}

} // namespace perigee::gateway
