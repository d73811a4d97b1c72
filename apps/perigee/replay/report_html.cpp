#include "apps/perigee/replay/page/texts.hpp"
#include "apps/perigee/replay/report.hpp"
#include "schemas/assert.hpp"

namespace perigee::app {
namespace {

/// So that no text in it can end the element that it stands in.
std::string as_script_data(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (char c : json)
    if (c == '<')
      out += "\\u003c"; // only strings have one
    else
      out += c;
  return out;
}

/// Moves on to behind `mark`, and appends what stood before it.
void copy_up_to(std::string_view mark, std::string_view& rest, std::string& out) {
  auto at = rest.find(mark);
  PERIGEE_ASSERT(at != std::string_view::npos, "the page has a place for each part");
  out += rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
}

} // namespace

std::string to_html(const figures& all, const replayed& run, const told_run& what) {
  std::string out;
  auto rest = page::frame;
  copy_up_to("@REPORT@", rest, out);
  out += as_script_data(to_json(all, run, what));
  copy_up_to("@LIBRARY@", rest, out);
  out += page::d3;
  copy_up_to("@PLOTS@", rest, out);
  out += page::plots;
  out += rest;
  return out;
}

} // namespace perigee::app
