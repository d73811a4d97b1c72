#include "workload/complaint.hpp"

#include "schemas/assert.hpp"

namespace perigee::workload {

std::string_view word(cause why) {
  switch (why) {
    case cause::not_readable: return "not readable";
    case cause::empty: return "empty";
    case cause::line_too_long: return "line too long";
    case cause::malformed: return "malformed";
    case cause::missing: return "field missing";
    case cause::wrong_type: return "wrong type";
    case cause::out_of_range: return "out of range";
    case cause::out_of_order: return "out of order";
    case cause::wrong_blocks: return "blocks that don't match the length";
    case cause::count: break;
  }
  PERIGEE_ASSERT(false, "every cause has a word");
  return {};
}

std::string to_string(const complaint& wrong) {
  std::string text = wrong.file;
  if (wrong.line > 0)
    text += ":" + std::to_string(wrong.line);
  if (!wrong.field.empty())
    text += ": " + wrong.field;
  text += ": found " + wrong.found;
  if (!wrong.expected.empty())
    text += "; expected " + wrong.expected;
  return text;
}

complaint place::wrong(cause why, std::string field, std::string found,
                       std::string expected) const {
  constexpr std::size_t shown_bytes_max = 40;
  if (found.empty())
    found = "nothing";
  if (found.size() > shown_bytes_max)
    found = found.substr(0, shown_bytes_max) + "...";
  return {why, file, line, std::move(field), std::move(found), std::move(expected)};
}

} // namespace perigee::workload
