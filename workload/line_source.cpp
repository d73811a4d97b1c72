#include "workload/line_source.hpp"

namespace perigee::workload {
namespace {

using found = line_reader::found;

} // namespace

line_source::line_source(std::istream& from, std::string file, strictness how,
                         std::string expected)
  : lines_{from}, file_{std::move(file)}, how_{how}, expected_{std::move(expected)} {}

next_request line_source::read(found state) {
  switch (state) {
    case found::line: return read_line();
    case found::too_long:
      return failure(
        here().wrong(cause::line_too_long, "", "a longer line",
                     "at most " + std::to_string(line_bytes_max) + " bytes"));
    case found::broken:
      return failure(
        here().wrong(cause::not_readable, "", "a file that can't be read", ""));
    case found::end: break;
  }
  return failure(complaint{cause::empty, file_, 0, "", "no request in it", expected_});
}

next_request line_source::next() {
  while (!is_over_) {
    auto state = lines_.next();
    if (state == found::end && is_any_)
      break;
    auto got = read(state);
    if (got && *got) {
      is_any_ = true;
      latest_ = (*got)->arrival;
      return got;
    }
    if (got)
      continue; // the head
    bool may_skip
      = is_past_head() && (state == found::line || state == found::too_long);
    if (how_ == strictness::strict || !may_skip) {
      is_over_ = true;
      return got;
    }
    ++skipped_[static_cast<std::size_t>(got.error().why)];
    if (state == found::too_long)
      lines_.skip_rest();
  }
  is_over_ = true;
  return std::optional<request>{};
}

} // namespace perigee::workload
